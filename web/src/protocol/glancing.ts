/**
 * The state of a session, for a viewer who is not attached.
 *
 * A link is kept for each session that was looked at, so that the next look costs a
 * question and not a handshake. It is not attached: nobody sees us there. There are
 * at most MAX_KEPT of them; the one that was looked at longest ago is given up.
 */

import type { Glance } from "./api.js";
import { asError, linkEnded } from "./errors.js";
import type { Screen } from "./messages.js";
import { done, one, parts, Questions, wholeScreen } from "./questions.js";
import type { Dialler, HostKeys } from "./reaching.js";
import { heardReason } from "./reaching.js";
import { SessionWire } from "./session-wire.js";
import { printable } from "./text.js";

/** Links kept for looking: a host serves 64 of one operator in all. */
const MAX_KEPT = 16;

/** Links dialled at once: a relay lets 16 knocks of one key wait. */
const MAX_DIALLING = 4;

const MAX_LINE = 200;

class Look {
  private readonly questions: Questions;
  isOver = false;

  constructor(
    from: Dialler,
    private readonly wire: SessionWire,
  ) {
    this.questions = new Questions(from.world.clock, (asked) => {
      wire.send(...asked).catch(() => undefined);
    });
    void this.read();
  }

  async glance(): Promise<Glance> {
    const { questions } = this;
    const screen = questions
      .ask([["SCREEN_REQUEST", { cells: false }]], parts("SCREEN", "SCREEN_REQUEST"))
      // Where no screen is to be had there is no last line, and that is all.
      .then(wholeScreen, () => null);
    const [evidence, presence, shown] = await Promise.all([
      questions.ask([["STATE_REQUEST", {}]], one("EVIDENCE", "STATE_REQUEST")),
      questions.ask([["WHO", {}]], done("WHO")),
      screen,
    ]);
    return { evidence, presence, title: printable(shown?.title ?? ""), lastLine: lastLine(shown) };
  }

  close(): void {
    this.isOver = true;
    this.wire.close();
  }

  private async read(): Promise<void> {
    try {
      for (;;) this.questions.hear(await this.wire.receive());
    } catch (thrown) {
      this.isOver = true;
      this.wire.close();
      this.questions.fail(heardReason(asError(thrown)));
    }
  }
}

export class Glancing {
  private readonly kept = new Map<string, Promise<Look>>();
  private readonly dialling = new Set<Promise<void>>();
  private isClosed = false;

  constructor(
    private readonly from: Dialler,
    private readonly keys: HostKeys,
  ) {}

  async glance(session: string): Promise<Glance> {
    const known = await this.kept.get(session)?.catch(() => null);
    if (known !== undefined && known !== null && !known.isOver) {
      this.keep(session, Promise.resolve(known));
      try {
        return await known.glance();
      } catch {
        // The link it had was gone; that is found out by using it.
        known.close();
      }
    }
    if (this.isClosed) throw linkEnded("we have left");
    const look = this.dialled(session);
    this.keep(session, look);
    return (await look).glance();
  }

  close(): void {
    this.isClosed = true;
    for (const session of [...this.kept.keys()]) this.giveUp(session);
  }

  private async dialled(session: string): Promise<Look> {
    while (this.dialling.size >= MAX_DIALLING) await Promise.race(this.dialling);
    const opened = SessionWire.open(this.from, this.keys, session);
    const settled = opened.then(
      () => undefined,
      () => undefined,
    );
    this.dialling.add(settled);
    void settled.then(() => this.dialling.delete(settled));
    return new Look(this.from, await opened);
  }

  private keep(session: string, look: Promise<Look>): void {
    this.kept.delete(session);
    this.kept.set(session, look);
    look.catch(() => {
      if (this.kept.get(session) === look) this.kept.delete(session);
    });
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_KEPT && oldest !== undefined) this.giveUp(oldest);
  }

  private giveUp(session: string): void {
    const look = this.kept.get(session);
    this.kept.delete(session);
    look?.then((one) => one.close()).catch(() => undefined);
  }
}

function lastLine(screen: Screen | null): string {
  const lines = screen?.text.split("\n") ?? [];
  const last = lines.reverse().find((line) => line.trim() !== "");
  return printable(last ?? "", MAX_LINE);
}
