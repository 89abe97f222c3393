/**
 * One host: its sessions, what is asked of it, and the way to each session.
 *
 * Theory of operation
 * -------------------
 * A channel is dialled when something is asked, and kept: a host hangs up on one
 * that asks nothing for 30 seconds, and we do so before. Questions wait for each
 * other. One that does no more when asked twice is asked again on a new channel if
 * the kept one turns out to be gone; to create or rename is not.
 *
 * While there are listeners, a host that cannot be reached is tried again by itself,
 * at longer and longer intervals; whatever is asked meanwhile tries at once.
 */

import type {
  AttachOptions,
  Creation,
  Glance,
  HostLink,
  HostStatus,
  ImageInfo,
  KnownHost,
  LinkState,
  LogPart,
  LostInfo,
  Named,
  SessionInfo,
  SessionLink,
  Sessions,
  Stop,
  Stretch,
} from "./api.js";
import { asError, type HoldfastError, malformed } from "./errors.js";
import type { Guide } from "./following.js";
import { Glancing } from "./glancing.js";
import { HostRequests, namedIn } from "./host-requests.js";
import { hostStatus } from "./host-status.js";
import { imageInfo } from "./image-record.js";
import { Listeners } from "./listeners.js";
import { readLog } from "./logbook.js";
import { lostInfo } from "./lost-record.js";
import type { Packet } from "./packets.js";
import { isPacket, numberOf, numberOrNull, textOf } from "./packets.js";
import type { Dialler, HostKeys } from "./reaching.js";
import { backOff, failureOf, heardReason, reachHost } from "./reaching.js";
import { LiveSession } from "./session-link.js";
import { sessionInfo } from "./session-record.js";
import type { HostRequest } from "./session-requests.js";
import { readStretch } from "./stretches.js";
import { fromBase64, printable } from "./text.js";

/** Milliseconds after which a channel that nobody uses is closed. */
const IDLE_MS = 20_000;

export class LiveHost implements HostLink {
  private current: LinkState = { is: "idle" };
  private readonly listeners = new Listeners<LinkState>();
  private readonly glancing: Glancing;
  private readonly attached = new Set<LiveSession>();
  private requests: HostRequests | null = null;
  private last: Promise<unknown> = Promise.resolve();
  private failures = 0;
  private forgetRetry: Stop = () => undefined;
  private forgetIdle: Stop = () => undefined;

  constructor(
    private readonly from: Dialler,
    private readonly keys: HostKeys,
    /** As the address book has it now; it may be renamed. */
    private readonly known: () => KnownHost,
    private readonly guide: Guide,
  ) {
    this.glancing = new Glancing(from, keys);
  }

  get host(): KnownHost {
    return this.known();
  }

  get state(): LinkState {
    return this.current;
  }

  listen(changed: (state: LinkState) => void): Stop {
    return this.listeners.add(changed);
  }

  async status(): Promise<HostStatus> {
    return hostStatus(await this.ask({ do: "status" }, true));
  }

  async sessions(): Promise<readonly SessionInfo[]> {
    return (await this.listed()).sessions;
  }

  async listed(): Promise<Sessions> {
    const told = await this.ask({ do: "list" }, true);
    const listed = told["sessions"];
    if (!Array.isArray(listed)) throw malformed("list", "it has no sessions");
    const lost = Array.isArray(told["lost"]) ? told["lost"] : [];
    return {
      sessions: listed.filter(isPacket).map(sessionInfo),
      lost: lost.filter(isPacket).map(lostInfo),
    };
  }

  async recover(lost: LostInfo): Promise<{ readonly id: string; readonly name: string }> {
    const name = lost.name === "" ? lost.id.slice(2, 8) : lost.name;
    const made = await this.ask({ do: "recover", recovers: lost.id, name }, false);
    return { id: textOf(made, "id"), name: shown(made, "name") };
  }

  async images(id = ""): Promise<readonly ImageInfo[]> {
    const told = (await this.ask({ do: "images", id }, true))["images"];
    if (!Array.isArray(told)) throw malformed("images", "it is no list");
    return told.filter(isPacket).map(imageInfo);
  }

  async restore(image: ImageInfo): Promise<{ readonly id: string; readonly name: string }> {
    const { id, number, name } = image;
    const made = await this.ask({ do: "recover", recovers: id, name, image: number }, false);
    return { id: textOf(made, "id"), name: shown(made, "name") };
  }

  async branch(
    image: string,
    name: string,
  ): Promise<{ readonly id: string; readonly name: string }> {
    const made = await this.ask({ do: "create", branches: image, name }, false);
    return { id: textOf(made, "id"), name: shown(made, "name") };
  }

  async removeImage({ id, number }: ImageInfo): Promise<void> {
    await this.ask({ do: "remove_image", id, number }, false);
  }

  async create(wish: Creation): Promise<{ readonly id: string; readonly name: string }> {
    const { size, ...rest } = wish;
    const asked: HostRequest =
      size === undefined
        ? { do: "create", integration: true, ...rest }
        : { do: "create", integration: true, ...rest, size: [size.columns, size.rows] };
    const made = await this.ask(asked, false);
    return { id: textOf(made, "id"), name: shown(made, "name") };
  }

  async rename(id: string, name: string): Promise<void> {
    await this.ask({ do: "rename", id, name }, false);
  }

  async keep(id: string, kept: boolean): Promise<void> {
    await this.ask({ do: "keep", id, keep: kept }, true);
  }

  async forget(id: string): Promise<void> {
    await this.ask({ do: "forget", id }, false);
  }

  async names(actors: readonly string[]): Promise<ReadonlyMap<string, Named>> {
    return namedIn(await this.ask({ do: "names", actors: [...actors] }, true));
  }

  async log(id: string, from: number | { readonly last: number } = 0): Promise<LogPart> {
    const asked: { from?: number; last?: number } = typeof from === "number" ? { from } : from;
    const told = await this.ask({ do: "log", id, ...asked }, true);
    const piece = fromBase64(textOf(told, "data"));
    if (piece === null) throw malformed("log", "it is no base64");
    const start = numberOrNull(told, "from") ?? asked.from ?? 0;
    return readLog(piece, start, numberOf(told, "size"));
  }

  async output(session: string, stretch: Stretch): Promise<Uint8Array | null> {
    const { incarnation, start } = stretch;
    const after = { incarnation, offset: start };
    const link = this.attach(session, { mode: "observe", after });
    try {
      return await readStretch(link, stretch, this.from.world.clock);
    } finally {
      link.close();
      if (link instanceof LiveSession) this.attached.delete(link);
    }
  }

  async glance(session: string): Promise<Glance> {
    try {
      return await this.glancing.glance(session);
    } catch (thrown) {
      throw heardReason(asError(thrown));
    }
  }

  attach(session: string, options: AttachOptions = {}): SessionLink {
    const link = new LiveSession(this.from, this.keys, session, options, this.guide);
    for (const other of this.attached) {
      if (other.state.is === "failed" || other.state.is === "over") this.attached.delete(other);
    }
    this.attached.add(link);
    return link;
  }

  /** Try at once whatever waits. */
  wake(): void {
    if (this.current.is === "waiting") this.retry();
    for (const link of this.attached) link.wake();
  }

  close(): void {
    this.hangUp();
    this.glancing.close();
    for (const link of this.attached) link.close();
    this.attached.clear();
    this.forgetRetry();
    this.turn({ is: "idle" });
  }

  // ── asking ─────────────────────────────────────────────────────────────────

  private ask(asked: HostRequest, isHarmlessTwice: boolean): Promise<Packet> {
    const answer = this.last.then(() => this.asked(asked, isHarmlessTwice));
    this.last = answer.catch(() => undefined);
    return answer;
  }

  private async asked(asked: HostRequest, isHarmlessTwice: boolean): Promise<Packet> {
    const kept = this.requests;
    if (kept !== null) {
      try {
        return await this.answered(kept, asked);
      } catch (thrown) {
        const error = asError(thrown);
        const isCut = error.branch === "Unavailable" && this.requests === null;
        if (!isCut || !isHarmlessTwice) throw error;
      }
    }
    return this.answered(await this.dialled(), asked);
  }

  private async answered(requests: HostRequests, asked: HostRequest): Promise<Packet> {
    this.forgetIdle();
    try {
      const answer = await requests.ask(asked);
      this.stayOpen();
      return answer;
    } catch (thrown) {
      const error = heardReason(asError(thrown));
      // A refusal is an answer: the channel stands. Anything else has ended it.
      if (error.code !== "revoked" && isAnswer(error)) this.stayOpen();
      else this.lost(error);
      throw error;
    }
  }

  private async dialled(): Promise<HostRequests> {
    this.forgetRetry();
    this.turn({ is: "connecting", attempt: this.failures + 1 });
    try {
      const sealed = await reachHost(this.from, this.keys);
      this.requests = new HostRequests(this.from.world.clock, sealed);
    } catch (thrown) {
      const error = asError(thrown);
      this.lost(error);
      throw error;
    }
    this.failures = 0;
    this.turn({ is: "live" });
    return this.requests;
  }

  private stayOpen(): void {
    this.forgetIdle();
    this.forgetIdle = this.from.world.clock.after(IDLE_MS, () => {
      this.hangUp();
      this.turn({ is: "idle" });
    });
  }

  private hangUp(): void {
    this.forgetIdle();
    this.requests?.close();
    this.requests = null;
  }

  private lost(error: HoldfastError): void {
    this.hangUp();
    const because = failureOf(error);
    if (because !== null) {
      this.turn({ is: "failed", because, error });
      return;
    }
    this.failures += 1;
    const retryInMs = backOff(this.from.world, this.failures);
    this.turn({ is: "waiting", attempt: this.failures, retryInMs, error });
    this.forgetRetry();
    this.forgetRetry = this.from.world.clock.after(retryInMs, () => this.retry());
  }

  private retry(): void {
    this.forgetRetry();
    if (this.listeners.count > 0) this.status().catch(() => undefined);
  }

  private turn(state: LinkState): void {
    this.current = state;
    void this.listeners.tell(state);
  }
}

/** Whether the host itself has refused, on a channel that goes on. */
function isAnswer(error: HoldfastError): boolean {
  const isOfImage = error.code.startsWith("image-");
  return isOfImage || (error.branch !== "PeerError" && !CUTS.includes(error.code));
}

const CUTS = ["link-ended", "host-unreachable", "handshake-timeout", "channel-worn-out"];

function shown(packet: Packet, name: string): string {
  return printable(textOf(packet, name), 64);
}
