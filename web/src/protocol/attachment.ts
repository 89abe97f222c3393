/**
 * What a client knows of a session, independent of its current link.
 *
 * Theory of operation
 * -------------------
 * Links are cut; what is known here outlives them: how far the stream has been seen,
 * who has the turn, and which inputs have no answer yet. On a new link the same
 * client attaches after the last byte it has, and sends the unanswered inputs again,
 * unchanged and in order, under the ids they had. A holder answers an id it knows
 * with what became of it, so nothing happens twice. The twin of src/holdfast/core/client/
 * attachment.py: both obey the stories of tests/core/client/transcripts.
 *
 * I1  Every byte of the stream is handed out at most once, and in order.
 * I2  An input keeps its id and its bytes until it is answered.
 * I3  Ids are counted from 1 without gaps, as far as the holder counts them.
 *
 * Some refusals leave the holder's count where it was (UNCOUNTED): such an input
 * stays unanswered, and goes again later, before anything newer.
 */

import type { Message } from "./codec.js";
import { refusalError } from "./codec.js";
import { HoldfastError } from "./errors.js";
import type {
  Attach,
  Attached,
  Cells,
  Keyframe,
  Mode,
  Pending,
  Refuse,
  Report,
  Submit,
} from "./messages.js";

/** Refusals after which the holder still waits for the same id. */
const UNCOUNTED = ["busy", "too-many-clients", "input-gap"];

/** What a message adds to the screen. */
export type Shown =
  | {
      readonly is: "painted";
      readonly offset: number;
      readonly size: Cells;
      readonly isFirst: boolean;
      readonly isLast: boolean;
      readonly data: Uint8Array;
    }
  | { readonly is: "printed"; readonly offset: number; readonly data: Uint8Array }
  | { readonly is: "gap"; readonly start: number; readonly end: number };

/** Which input was settled, and why not if it was not applied. */
export interface Answered {
  readonly sequence: number;
  readonly error: HoldfastError | null;
}

export class Attachment {
  name = "";
  size: Cells = { columns: 80, rows: 24 };
  state = "running";
  holder = "";
  epoch = 0;
  us: string;
  incarnation: number | null = null;
  /** The stream has been seen up to here; null before the first byte. */
  offset: number | null = null;
  /** Whether inputs wait to be sent again because the holder had no room. */
  isStalled = false;
  readonly pending = new Map<number, Pending>();

  /** Whether what comes next begins a screen of its own. */
  private isFresh = true;
  private isPainting = false;
  /** What was skipped because we were too slow, until it can be told. */
  private skippedFrom: number | null = null;
  private readonly unanswered = new Map<number, Submit>();
  private next = 1;

  constructor(
    readonly session: string,
    readonly client: string,
    readonly mode: Mode,
    us: string,
  ) {
    this.us = us;
  }

  /** The inputs without an answer, oldest first: what a new link begins with. */
  get open(): readonly Submit[] {
    return [...this.unanswered.values()].sort((a, b) => a.sequence - b.sequence);
  }

  /** The sequence of the input that is made next. */
  get upcoming(): number {
    return this.next;
  }

  get mayWrite(): boolean {
    return this.mode === "operate" && (this.holder === "" || this.holder === this.us);
  }

  /** The first message on a new link. */
  attach(size: Cells | null): Attach {
    return {
      session: this.session,
      client: this.client,
      mode: this.mode,
      size,
      incarnation: this.offset === null ? null : this.incarnation,
      after: this.offset,
      keyframe: true,
    };
  }

  /** Give up on what comes too fast: the next attach begins with a picture. */
  skip(): void {
    this.skippedFrom ??= this.offset;
    this.offset = null;
  }

  /**
   * Make an input, which is open until it is answered; only once attached. If
   * nobody waits for the answer, it may come a little later.
   */
  submit(kind: Submit["kind"], payload: Uint8Array, waits = true): Submit {
    const made: Submit = {
      client: this.client,
      sequence: this.next,
      kind,
      incarnation: this.incarnation ?? 1,
      epoch: this.epoch,
      payload,
      seen: this.offset,
      waits,
    };
    this.unanswered.set(this.next, made);
    this.next += 1;
    return made;
  }

  /** Take a message; return what it adds to the screen, often nothing. */
  heard(message: Message): readonly Shown[] {
    switch (message.is) {
      case "OUTPUT":
        return this.printed(message.body.offset, message.body.data);
      case "KEYFRAME":
        return this.painted(message.body);
      case "GAP":
        return this.missed(message.body.start, message.body.end);
      case "ATTACHED":
        this.attached(message.body);
        return [];
      case "TURN_PASSED":
        this.holder = message.body.holder;
        this.epoch = message.body.epoch;
        return [];
      case "RESIZED":
        this.size = message.body.size;
        return [];
      case "STATE":
        this.state = message.body.state;
        return [];
      case "EXITED":
        this.state = "exited";
        return [];
      case "PENDING":
        this.pending.set(message.body.ticket, message.body);
        return [];
      case "SETTLED":
        this.pending.delete(message.body.ticket);
        return [];
      case "PRESENCE":
        this.holder = message.body.holder;
        this.epoch = message.body.epoch;
        this.pending.clear();
        for (const one of message.body.pending) this.pending.set(one.ticket, one);
        return [];
      default:
        return [];
    }
  }

  /** Which input `message` settles; null if it settles none. */
  answered(message: Message): Answered | null {
    if (message.is !== "ACKNOWLEDGE" && message.is !== "REPORT" && message.is !== "REFUSE") {
      return null;
    }
    if (message.body.client !== this.client) return null;
    if (message.is === "REFUSE") return this.refused(message.body);
    const error = message.is === "REPORT" ? this.ending(message.body) : null;
    return this.settled(message.body.sequence, error);
  }

  private printed(offset: number, data: Uint8Array): readonly Shown[] {
    const before = this.isFresh ? this.cleared(offset) : [];
    const seen = this.offset ?? offset;
    const end = offset + data.length;
    this.offset = Math.max(seen, end);
    if (end <= seen) return before;
    const fresh = data.subarray(Math.max(0, seen - offset));
    return [...before, { is: "printed", offset: end - fresh.length, data: fresh }];
  }

  private painted(part: Keyframe): readonly Shown[] {
    const isFirst = !this.isPainting;
    const before = isFirst ? this.skipped(part.offset) : [];
    this.isPainting = part.more;
    this.isFresh = false;
    if (isFirst) this.size = part.size;
    // Half a picture is none: after a cut it is painted anew.
    if (!part.more) this.offset = part.offset;
    const { offset, size, data } = part;
    return [...before, { is: "painted", offset, size, isFirst, isLast: !part.more, data }];
  }

  private missed(start: number, end: number): readonly Shown[] {
    this.offset = end;
    this.skippedFrom = null;
    return [{ is: "gap", start, end }];
  }

  /** The stream begins without a picture: on an empty screen. */
  private cleared(offset: number): readonly Shown[] {
    this.isFresh = false;
    const empty = new Uint8Array(0);
    return [
      ...this.skipped(offset),
      { is: "painted", offset, size: this.size, isFirst: true, isLast: true, data: empty },
    ];
  }

  private skipped(end: number): readonly Shown[] {
    const start = this.skippedFrom;
    this.skippedFrom = null;
    return start !== null && start < end ? [{ is: "gap", start, end }] : [];
  }

  private attached(message: Attached): void {
    if (message.incarnation !== this.incarnation) {
      // Offsets of another life mean nothing in this one.
      this.offset = null;
      this.skippedFrom = null;
    }
    this.isPainting = false;
    this.isFresh = this.offset === null;
    this.name = message.name;
    this.size = message.size;
    this.state = message.state;
    this.incarnation = message.incarnation;
    this.epoch = message.epoch;
    this.holder = message.holder;
    this.pending.clear();
    const ours = message.operators.find((who) => who.client === this.client);
    this.us = ours?.actor ?? this.us;
  }

  private settled(sequence: number, error: HoldfastError | null): Answered | null {
    if (!this.unanswered.delete(sequence)) return null;
    if (this.unanswered.size === 0) this.isStalled = false;
    return { sequence, error };
  }

  private refused(refuse: Refuse): Answered | null {
    const error = refusalError(refuse);
    if (!UNCOUNTED.includes(refuse.code)) return this.settled(refuse.sequence, error);
    const expected = error.facts["expected"] ?? refuse.sequence;
    if (typeof expected === "number" && !this.unanswered.has(expected)) {
      // What the holder waits for was given up: count on from there.
      this.next = expected;
      this.unanswered.clear();
      this.isStalled = false;
      return { sequence: refuse.sequence, error };
    }
    this.isStalled = true;
    return null;
  }

  private ending(report: Report): HoldfastError {
    const { client, sequence, written } = report;
    const size = this.unanswered.get(sequence)?.payload.length ?? 0;
    switch (report.outcome) {
      case "cut":
        return new HoldfastError("input-cut", `${written} of ${size} bytes went in`, {
          written,
          size,
        });
      case "dropped": {
        const facts = { holder: this.holder, epoch: this.epoch };
        return new HoldfastError("turn-moved", "the turn moved before it was written", facts);
      }
      case "unknown":
        return outcomeUnknown(client, sequence);
    }
  }
}

export function outcomeUnknown(client: string, sequence: number): HoldfastError {
  const text = "nobody knows whether the input went in";
  return new HoldfastError("outcome-unknown", text, { client, sequence });
}
