/**
 * One session, attached to while it has listeners.
 *
 * Theory of operation
 * -------------------
 * A loop dials, attaches and reads, and begins anew when a link is cut; what must
 * outlive a link is in Attachment, Typing and Questions.
 *
 *     idle ─listen─▶ connecting ─ATTACHED─▶ live ─cut─▶ waiting ─▶ connecting …
 *                        └─ cannot be had ─▶ failed      └─ EXITED ─▶ over
 *
 * A session that moves is followed to the other host (whereabouts.ts).
 *
 * I1  A link that is silent is asked whether it is there, and given up in time: a
 *     tab that slept for an hour finds out within seconds of waking.
 * I2  What is behind by more than MAX_BEHIND is skipped, not piled up.
 * I3  After `failed`, `over` and `close` nothing is dialled.
 */

import type {
  ActorId,
  AttachOptions,
  LinkState,
  SessionEvent,
  SessionLink,
  SessionView,
  Stop,
} from "./api.js";
import { Attachment } from "./attachment.js";
import { CHECKPOINT_MS, END_MS } from "./client-limits.js";
import type { Message } from "./codec.js";
import { refusalError } from "./codec.js";
import { asError, HoldfastError, linkEnded } from "./errors.js";
import type { Guide } from "./following.js";
import { Following } from "./following.js";
import { clientId } from "./ids.js";
import { Listeners } from "./listeners.js";
import type {
  Attached,
  BlameReport,
  Cells,
  Checkpointed,
  CheckpointRequest,
  CommandReport,
  Evidence,
  Graph,
  Pending,
  Preflight,
  Presence,
  Refuse,
  Screen,
  Sign,
  Submit,
  Tried,
} from "./messages.js";
import { KINDS } from "./messages.js";
import { Pulse } from "./pulse.js";
import { done, ended, one, parts, Questions, wholeGraph, wholeScreen } from "./questions.js";
import type { Dialler, HostKeys } from "./reaching.js";
import { backOff, failureOf, heardReason } from "./reaching.js";
import { eventFrom } from "./session-events.js";
import type { Said } from "./session-wire.js";
import { SessionWire } from "./session-wire.js";
import { Signing } from "./signing.js";
import { utf8 } from "./text.js";
import { Typing } from "./typing.js";
import { FOLLOWING_MS } from "./whereabouts.js";

/** Bytes that may have come and not been shown; then a picture is asked for. */
export const MAX_BEHIND = 2 * 1024 * 1024;

/** Milliseconds for a session to attach us once it was reached. */
const ATTACH_MS = 10_000;

/** Milliseconds after which a link that breaks was not a failure to have one. */
const STOOD_MS = 5_000;

/** Milliseconds without output after which a torn screen is painted anew. */
const QUIET_MS = 300;

/** We were too slow for what came, and begin anew with a picture. */
const SKIPPED = new HoldfastError("slow-peer", "more has come than could be shown");

interface Asking {
  readonly untilAt: number;
  readonly fulfil: () => void;
  readonly refuse: (error: HoldfastError) => void;
}

export class LiveSession implements SessionLink {
  readonly mode: "observe" | "operate";
  private current: LinkState = { is: "idle" };
  private readonly attachment: Attachment;
  private readonly listeners = new Listeners<SessionEvent>();
  private readonly questions: Questions;
  private readonly typing: Typing;
  private readonly signing: Signing;
  private readonly following: Following;
  private readonly askings = new Set<Asking>();
  private readonly size: Cells | null;
  private wire: SessionWire | null = null;
  /** The link on which the last is signed. */
  private leaving: SessionWire | null = null;
  private hasAttached = false;
  private isRunning = false;
  private isClosed = false;
  private wakeUp: (() => void) | null = null;
  private pulse: Pulse | null = null;
  private attachedAt: number | null = null;
  private forgetMending: Stop = () => undefined;
  private isSkipping = false;
  private isMidStream = false;
  private isTorn = false;

  constructor(
    private readonly from: Dialler,
    home: HostKeys,
    readonly session: string,
    options: AttachOptions,
    guide: Guide,
  ) {
    this.mode = options.mode ?? "operate";
    this.size = options.size ?? null;
    const client = clientId(from.world.suite);
    this.attachment = new Attachment(session, client, this.mode, from.actor);
    this.attachment.offset = options.after?.offset ?? null;
    this.attachment.incarnation = options.after?.incarnation ?? null;
    const say = this.say.bind(this);
    this.questions = new Questions(from.world.clock, (asked) => say(...asked));
    const { suite, clock } = from.world;
    const hand = (statement: Sign): void => say(["SIGN", statement]);
    this.signing = new Signing(suite, clock, from, session, client, hand);
    this.typing = new Typing(clock, this.attachment, say, this.signing);
    this.following = new Following(suite, guide, session, home);
  }

  get host(): string {
    return this.following.home;
  }

  get state(): LinkState {
    return this.current;
  }

  get view(): SessionView | null {
    if (!this.hasAttached) return null;
    const { name, size, state, us, holder, epoch, mayWrite, pending, incarnation } =
      this.attachment;
    return {
      name,
      size,
      state,
      us,
      holder,
      epoch,
      incarnation: incarnation ?? 1,
      mayWrite,
      hasTurn: holder === us,
      openInputs: this.typing.count,
      pending: [...pending.values()],
    };
  }

  listen(hear: (event: SessionEvent) => void | Promise<void>): Stop {
    const stop = this.listeners.add(hear);
    if (!this.isRunning && !this.isClosed) {
      this.isRunning = true;
      void this.run();
    }
    return stop;
  }

  wake(): void {
    if (this.wakeUp !== null) this.wakeUp();
    else this.pulse?.wake();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.leave();
    this.finish({ is: "idle" }, linkEnded("we have left"));
  }

  /** Sign what was typed last, and go; nobody waits for it. */
  private leave(): void {
    this.leaving = this.wire;
    if (this.leaving !== null) void this.signOff(this.leaving);
  }

  private async signOff(wire: SessionWire): Promise<void> {
    try {
      const last = await this.signing.rest();
      const said: readonly Said[] = last === null ? [] : [["SIGN", last]];
      await wire.send(...said, ["DETACH", {}]);
    } catch {
      // Then it is on record that it is not signed.
    } finally {
      wire.close();
    }
  }

  private hangUp(wire: SessionWire | null): void {
    if (wire !== this.leaving) wire?.close();
  }

  // ── inputs ─────────────────────────────────────────────────────────────────

  type(keys: string | Uint8Array): Promise<void> {
    return this.input(() => this.typing.type(keys));
  }

  command(line: string): Promise<void> {
    return this.submit("command", utf8(`${line}\r`));
  }

  answer(secret: string): Promise<void> {
    return this.submit("answer", utf8(`${secret}\r`));
  }

  signal(number: number): Promise<void> {
    return this.submit("signal", utf8(String(number)));
  }

  resize({ columns, rows }: Cells): Promise<void> {
    return this.submit("resize", utf8(`${columns}x${rows}`));
  }

  private submit(kind: Submit["kind"], payload: Uint8Array): Promise<void> {
    return this.input(() => this.typing.submit(kind, payload));
  }

  private input(send: () => Promise<void>): Promise<void> {
    return !this.isRunning || this.isOver() ? Promise.reject(this.whyOver()) : send();
  }

  // ── the turn, and all that is asked for ────────────────────────────────────

  take(): Promise<Presence> {
    return this.request(["TAKE", {}]);
  }

  async ask(timeoutMs: number): Promise<Presence> {
    if (!this.isRunning || this.isOver()) throw this.whyOver();
    const untilAt = this.from.world.clock.now() + timeoutMs;
    await new Promise<void>((fulfil, refuse) => {
      const asking: Asking = { untilAt, fulfil, refuse };
      this.askings.add(asking);
      this.sayAsk(asking);
    });
    return this.who();
  }

  reply(asker: ActorId, granted: boolean): Promise<Presence> {
    return this.request(["ANSWER", { asker, granted }]);
  }

  give(to: ActorId): Promise<Presence> {
    return this.request(["GIVE", { to }]);
  }

  drop(): Promise<Presence> {
    return this.request(["DROP", {}]);
  }

  seize(halt: "none" | "freeze" | "interrupt"): Promise<Presence> {
    return this.request(["SEIZE", { halt }]);
  }

  freeze(): Promise<Presence> {
    return this.request(["FREEZE", {}]);
  }

  thaw(): Promise<Presence> {
    return this.request(["THAW", {}]);
  }

  approve({ ticket, epoch, digest }: Pending): Promise<Presence> {
    return this.request(["APPROVE", { ticket, epoch, digest }]);
  }

  deny({ ticket, digest }: Pending): Promise<Presence> {
    return this.request(["DENY", { ticket, digest }]);
  }

  grant(actor: ActorId, rights: readonly string[], forMs: number): Promise<Presence> {
    return this.request(["GRANT", { actor, rights, for_ms: forMs }]);
  }

  revoke(actor: ActorId): Promise<Presence> {
    return this.request(["REVOKE", { actor }]);
  }

  end(signal: number): Promise<number> {
    return this.put([["END", { signal, leave: false }]], ended, END_MS);
  }

  checkpoint(wish: Omit<CheckpointRequest, "branch" | "key">): Promise<Checkpointed> {
    return this.image({ ...wish, branch: false, key: "" });
  }

  imageForBranch(): Promise<Checkpointed> {
    return this.image({ stop: false, label: "", branch: true, key: "" });
  }

  private image(wish: CheckpointRequest): Promise<Checkpointed> {
    const asked: Said = ["CHECKPOINT_REQUEST", wish];
    return this.put([asked], one("CHECKPOINTED", "CHECKPOINT_REQUEST"), CHECKPOINT_MS);
  }

  preflight(): Promise<Preflight> {
    return this.put([["PREFLIGHT_REQUEST", {}]], one("PREFLIGHT", "PREFLIGHT_REQUEST"));
  }

  who(): Promise<Presence> {
    return this.put([["WHO", {}]], done());
  }

  evidence(): Promise<Evidence> {
    return this.put([["STATE_REQUEST", {}]], one("EVIDENCE", "STATE_REQUEST"));
  }

  async screen(cells = false): Promise<Screen> {
    const asked: Said = ["SCREEN_REQUEST", { cells }];
    return wholeScreen(await this.put([asked], parts("SCREEN", "SCREEN_REQUEST")));
  }

  async graph(descriptors = false): Promise<Graph> {
    const asked: Said = ["GRAPH_REQUEST", { descriptors }];
    return wholeGraph(await this.put([asked], parts("GRAPH", "GRAPH_REQUEST")));
  }

  blame(what: string, name: string, atMs = 0): Promise<BlameReport> {
    const asked: Said = ["BLAME_REQUEST", { what, name, at_ms: atMs }];
    return this.put([asked], one("BLAME_REPORT", "BLAME_REQUEST"));
  }

  tryOut(actor: ActorId, kind: string, payload: Uint8Array): Promise<Tried> {
    const asked: Said = ["TRY", { actor, kind: kind as Submit["kind"], payload, candidate: null }];
    return this.put([asked], one("TRIED", "TRY"));
  }

  lastCommand(): Promise<CommandReport> {
    const asked: Said = ["COMMAND_REQUEST", { client: "" }];
    return this.put([asked], one("COMMAND_REPORT", "COMMAND_REQUEST"));
  }

  private request(asked: Said): Promise<Presence> {
    return this.put([asked, ["WHO", {}]], done(asked[0]));
  }

  private put<Answer>(
    asked: readonly Said[],
    begin: () => (message: Message) => Answer | undefined,
    patienceMs?: number,
  ): Promise<Answer> {
    if (!this.isRunning || this.isOver()) return Promise.reject(this.whyOver());
    return this.questions.ask(asked, begin, patienceMs);
  }

  // ── the loop ───────────────────────────────────────────────────────────────

  private async run(): Promise<void> {
    let failures = 0;
    let error: HoldfastError | null = null;
    while (!this.isOver()) {
      // A requested repaint does not count as a loss.
      if (error !== SKIPPED)
        this.turn(this.onItsWay() ?? { is: "connecting", attempt: failures + 1 });
      error = await this.linkOnce();
      if (this.isOver()) return;
      if (error === SKIPPED) continue;
      const wasMoving = this.onItsWay() !== null;
      if (!wasMoving && (await this.mustStop(error))) return;
      error = await this.following.heard(error, this.from.world.clock.now());
      const moving = this.onItsWay();
      if (moving !== null) {
        this.turn(moving);
        await this.paused(FOLLOWING_MS);
        continue;
      }
      // A link that stood for a while was no failure to have one.
      failures = this.hasStood() ? 1 : failures + 1;
      const retryInMs = backOff(this.from.world, failures);
      const why = this.following.told(error);
      this.turn({ is: "waiting", attempt: failures, retryInMs, error: why });
      await this.paused(retryInMs);
    }
  }

  private onItsWay(): LinkState | null {
    const to = this.following.destination(this.from.world.clock.now());
    return to === "" ? null : { is: "moving", to };
  }

  private hasStood(): boolean {
    const since = this.attachedAt;
    this.attachedAt = null;
    return since !== null && this.from.world.clock.now() - since >= STOOD_MS;
  }

  /** Be linked once, to the end; return why it ended. */
  private async linkOnce(): Promise<HoldfastError> {
    let wire: SessionWire | null = null;
    try {
      wire = await SessionWire.open(this.from, this.following.host, this.session);
      await this.attach(wire);
      await this.carry(wire);
      return linkEnded("");
    } catch (thrown) {
      return this.isSkipping ? SKIPPED : heardReason(asError(thrown));
    } finally {
      this.isSkipping = false;
      this.pulse?.stop();
      this.pulse = null;
      this.forgetMending();
      this.wire = null;
      this.hangUp(wire);
    }
  }

  private async attach(wire: SessionWire): Promise<void> {
    const forget = this.from.world.clock.after(ATTACH_MS, () => wire.close("session-unreachable"));
    try {
      await wire.send(["ATTACH", this.attachment.attach(this.size)]);
      while (!this.isOver()) {
        const message = await wire.receive();
        if (message.is === "ATTACHED") {
          await this.begin(wire, message.body);
          return;
        }
        if (message.is === "REFUSE" && message.body.refused === KINDS.ATTACH) {
          throw refusalError(message.body);
        }
        await this.hear(message);
      }
      throw linkEnded("we have left");
    } finally {
      forget();
    }
  }

  private async begin(wire: SessionWire, attached: Attached): Promise<void> {
    this.attachment.heard({ is: "ATTACHED", body: attached });
    this.hasAttached = true;
    await this.following.found();
    // Only from here on is anything said on it: what was said before is repeated.
    this.wire = wire;
    this.isMidStream = this.isTorn = false;
    this.attachedAt = this.from.world.clock.now();
    this.pulse = new Pulse(this.from.world.clock, {
      ping: () => this.say(["PING", { number: 1 }]),
      hasUnread: () => wire.unread > 0,
      giveUp: () => wire.close("link-ended"),
    });
    this.typing.begin();
    this.signing.begin();
    this.questions.repeat();
    for (const asking of this.askings) this.sayAsk(asking);
    await this.listeners.tell({ is: "attached", attached });
    this.turn({ is: "live" });
    // What stands still and who waits is told to who asks.
    this.who().catch(() => undefined);
  }

  private async carry(wire: SessionWire): Promise<void> {
    while (this.wire === wire) {
      const message = await wire.receive();
      this.pulse?.heard(message.is === "PONG");
      await this.hear(message);
      this.watchForTears(message);
      if (wire.unread > MAX_BEHIND) this.skip();
    }
  }

  /** Begin anew with a picture, on another link. */
  private skip(): void {
    this.isSkipping = true;
    this.attachment.skip();
    this.wire?.close();
  }

  /**
   * A holder that could not keep up with us leaves bytes out in the middle, and what
   * follows may make no sense. Once it is quiet, a picture puts that right.
   */
  private watchForTears(message: Message): void {
    if (message.is === "KEYFRAME") this.isTorn = false;
    else if (message.is === "GAP" && this.isMidStream) this.isTorn = true;
    else if (message.is === "OUTPUT") this.isMidStream = true;
    if (!this.isTorn || (message.is !== "OUTPUT" && message.is !== "GAP")) return;
    this.forgetMending();
    this.forgetMending = this.from.world.clock.after(QUIET_MS, () => this.skip());
  }

  private async hear(message: Message): Promise<void> {
    const answered = this.attachment.answered(message);
    for (const shown of this.attachment.heard(message)) await this.listeners.tell(shown);
    if (answered !== null) this.typing.settled(answered);
    this.signing.hear(message);
    this.typing.retry();
    this.hearTurn(message);
    this.questions.hear(message);
    const event = eventFrom(message);
    if (event !== null) await this.listeners.tell(event);
    if (message.is === "EXITED") {
      const { status } = message.body;
      this.leave();
      this.finish({ is: "over", status, why: "" }, over());
    }
  }

  private hearTurn(message: Message): void {
    if (message.is === "TURN_PASSED" && message.body.holder !== this.attachment.us) {
      this.typing.lostTurn();
    }
    const isOurs =
      (message.is === "TURN_PASSED" || message.is === "PRESENCE") &&
      message.body.holder === this.attachment.us;
    const refusal = refusalOf(message, "ASK");
    if (!isOurs && refusal === null) return;
    for (const asking of [...this.askings]) {
      this.askings.delete(asking);
      if (refusal === null) asking.fulfil();
      else asking.refuse(refusalError(refusal));
    }
  }

  private sayAsk(asking: Asking): void {
    const left = Math.round(asking.untilAt - this.from.world.clock.now());
    this.say(["ASK", { timeout_ms: Math.min(Math.max(1, left), MAX_ASK_MS) }]);
    // It may be ours by now, and then nobody says so.
    this.who().catch(() => undefined);
  }

  /** Send on the present link; what matters is sent again on the next. */
  private say(...messages: readonly Said[]): void {
    this.wire?.send(...messages).catch(() => undefined);
  }

  // ── how it stands ──────────────────────────────────────────────────────────

  private turn(state: LinkState): void {
    this.current = state;
    void this.listeners.tell({ is: "link", state });
  }

  /** Decide whether it is of no use to try again; then that is how it stands. */
  private async mustStop(error: HoldfastError): Promise<boolean> {
    const failure = failureOf(error) ?? (isNonsense(error) ? "version" : null);
    if (failure !== null) {
      const because = this.following.failure(failure);
      const why = because === "elsewhere" ? this.following.told(error) : error;
      this.finish({ is: "failed", because, error: why }, why);
      return true;
    }
    if (error.code !== "session-unreachable") return false;
    try {
      const found = await this.following.lookUp();
      if (found === null) this.finish({ is: "failed", because: "gone", error }, error);
      else if (found.exit !== null) {
        this.finish({ is: "over", status: found.exit, why: "" }, over());
      }
    } catch {
      // Nobody knows; it is tried again.
    }
    return this.isOver();
  }

  private finish(state: LinkState, error: HoldfastError): void {
    this.pulse?.stop();
    this.forgetMending();
    const wire = this.wire;
    this.wire = null;
    this.turn(state);
    this.hangUp(wire);
    this.questions.fail(error);
    this.typing.fail(error, state.is === "over");
    for (const asking of this.askings) asking.refuse(error);
    this.askings.clear();
    this.wakeUp?.();
  }

  private isOver(): boolean {
    return this.isClosed || this.current.is === "failed" || this.current.is === "over";
  }

  private whyOver(): HoldfastError {
    if (this.current.is === "failed") return this.current.error;
    return this.current.is === "over" ? over() : linkEnded("nobody is attached");
  }

  private paused(ms: number): Promise<void> {
    return new Promise((fulfil) => {
      const forget = this.from.world.clock.after(ms, () => this.wakeUp?.());
      this.wakeUp = () => {
        forget();
        this.wakeUp = null;
        fulfil();
      };
    });
  }
}

const MAX_ASK_MS = 86_400_000;

function over(): HoldfastError {
  return new HoldfastError("session-over", "the session has ended", { state: "exited" });
}

/** What only another version of us could have said; the seal proves who said it. */
function isNonsense(error: HoldfastError): boolean {
  const codes = ["malformed-message", "unknown-frame-kind", "unexpected-message"];
  return codes.includes(error.code) && error.facts["what"] !== "relay message";
}

function refusalOf(message: Message, kind: keyof typeof KINDS): Refuse | null {
  const isIt = message.is === "REFUSE" && message.body.refused === KINDS[kind];
  return isIt ? message.body : null;
}
