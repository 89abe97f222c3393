/**
 * One link to a session: messages out, messages in, after both sides have said who
 * they are and what they speak (docs/spec/wire.md, sections 4.2 and 6).
 */

import { GREETING_MS } from "./client-limits.js";
import type { Message } from "./codec.js";
import { chooseVersion, decode, encode, refusalError } from "./codec.js";
import { HoldfastError, linkEnded, noCommonVersion, unexpected } from "./errors.js";
import { FrameReader } from "./frames.js";
import type { Bodies } from "./messages.js";
import { KINDS, SPOKEN } from "./messages.js";
import { hearOpened, sayOpen } from "./opening.js";
import type { Dialler, HostKeys } from "./reaching.js";
import { reachHost } from "./reaching.js";
import type { Sealed } from "./sealed.js";
import { joined } from "./text.js";

const PRODUCT = "holdfast web";

/** On a sealed link the host proves who we are in our place. */
const NO_PROOF = new Uint8Array(32);

/** A message on its way out. */
export type Said = {
  readonly [Kind in keyof Bodies]: readonly [Kind, Bodies[Kind]];
}[keyof Bodies];

export class SessionWire {
  private readonly reader = new FrameReader();
  private readonly heard: Message[] = [];
  private isClosed = false;

  private constructor(
    private readonly sealed: Sealed,
    private readonly session: string,
  ) {}

  /** Reach a session's holder, and be welcome there. */
  static async open(from: Dialler, host: HostKeys, session: string): Promise<SessionWire> {
    const sealed = await reachHost(from, host);
    const wire = new SessionWire(sealed, session);
    let isLate = false;
    const forget = from.world.clock.after(GREETING_MS, () => {
      isLate = true;
      wire.close("session-unreachable");
    });
    try {
      await wire.greet(from.actor);
      return wire;
    } catch (thrown) {
      wire.close();
      throw isLate ? silent(session) : thrown;
    } finally {
      forget();
    }
  }

  /** Bytes that have come and that nobody has received yet. */
  get unread(): number {
    return this.sealed.unread;
  }

  send(...messages: readonly Said[]): Promise<void> {
    const frames = messages.map(([is, body]) => encode(is, body as Bodies[typeof is]));
    return this.sealed.send(joined(...frames));
  }

  /** The next message. Questions whether we are there are answered here. */
  async receive(): Promise<Message> {
    for (;;) {
      const message = this.heard.shift();
      if (message === undefined) {
        const data = await this.sealed.receive();
        if (data.length === 0) throw linkEnded("the session hung up");
        this.heard.push(...this.reader.feed(data).map(decode));
      } else if (message.is === "PING") {
        await this.send(["PONG", { number: message.body.number }]);
      } else if (message.is === "GOODBYE") {
        throw dismissed(message.body, this.session);
      } else if (message.is === "REFUSE" && message.body.refused === KINDS.IDENTIFY) {
        throw refusalError(message.body);
      } else {
        return message;
      }
    }
  }

  close(code = ""): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.sealed.close(code);
  }

  private async greet(actor: string): Promise<void> {
    // Said together: what is not let in is not let in either way.
    const opened = sayOpen(this.sealed, this.session);
    const hello = this.send(["HELLO", { versions: SPOKEN, product: PRODUCT, client: "web" }]);
    await Promise.all([opened, hello]);
    await hearOpened(this.sealed);
    const welcome = await this.receive();
    if (welcome.is !== "WELCOME") throw unexpected(welcome.is, "greeting");
    chooseVersion([welcome.body.version]);
    const asked = await this.receive();
    if (asked.is !== "CHALLENGE") throw unexpected(asked.is, "greeting");
    // It is not answered unless it is refused, and later.
    await this.send(["IDENTIFY", { actor, proof: NO_PROOF }]);
  }
}

function dismissed(goodbye: Bodies["GOODBYE"], session: string): HoldfastError {
  if (goodbye.code === "session-moved") {
    const facts = { session, why: "to another host", word: goodbye.text };
    return new HoldfastError("session-left", "the session moves to another host", facts);
  }
  if (goodbye.code === "no-common-version") {
    return noCommonVersion(SPOKEN.join(", "), goodbye.text);
  }
  return new HoldfastError(goodbye.code, goodbye.text);
}

function silent(session: string): HoldfastError {
  const why = "it does not say hello";
  return new HoldfastError("session-unreachable", `${session}: ${why}`, { session, why });
}
