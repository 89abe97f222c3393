/**
 * Inputs from the moment they are typed until they are settled.
 *
 * Theory of operation
 * -------------------
 * An input waits in the queue until the client is attached and not too much is on its way;
 * then it gets its id (Attachment) and stays until it is answered, from link to link.
 * What is too long for one input is sent in pieces, no piece before the last was
 * taken, and whatever is typed meanwhile waits for it.
 *
 * I1  An input is sent under one id until it is answered, and never under two.
 * I2  What was made under a turn that was lost never goes in under a later one.
 * I3  After a refused piece of something longer, no further piece is sent.
 */

import type { Answered, Attachment } from "./attachment.js";
import { outcomeUnknown } from "./attachment.js";
import { MAX_INPUT, RETRY_MS } from "./client-limits.js";
import { HoldfastError } from "./errors.js";
import type { Submit } from "./messages.js";
import type { Clock } from "./ports.js";
import type { Said } from "./session-wire.js";
import type { Signing } from "./signing.js";
import { utf8 } from "./text.js";

/** Inputs, and bytes in them, that may be on their way: what is sent again after a cut. */
const MAX_OPEN = 64;
const MAX_OPEN_BYTES = 256 * 1024;

interface Waiting {
  readonly fulfil: () => void;
  readonly refuse: (error: HoldfastError) => void;
}

/** What was typed and not sent yet. */
interface Unsent extends Waiting {
  readonly kind: Submit["kind"];
  readonly payload: Uint8Array;
}

export class Typing {
  private readonly backlog: Unsent[] = [];
  private readonly inputs = new Map<number, Waiting>();
  /** Settled when what is pasted in pieces is through. */
  private pasting: Promise<void> | null = null;
  private turnsLost = 0;
  private isAttached = false;
  private forgetRetry: (() => void) | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly attachment: Attachment,
    /** Says something on the present link, if there is one. */
    private readonly say: (...messages: readonly Said[]) => void,
    /** Hears of each input, so that it can be signed. */
    private readonly signing: Pick<Signing, "note" | "countedFrom"> | null = null,
  ) {}

  /** How many inputs have no answer yet. */
  get count(): number {
    return this.attachment.open.length + this.backlog.length;
  }

  type(keys: string | Uint8Array): Promise<void> {
    const payload = typeof keys === "string" ? utf8(keys) : keys;
    const isWhole = payload.length <= MAX_INPUT && this.pasting === null;
    if (isWhole) return this.submit("keys", payload);
    const pasted = (this.pasting ?? Promise.resolve()).then(() => this.paste(payload));
    const over: Promise<void> = pasted
      .catch(() => undefined)
      .then(() => {
        if (this.pasting === over) this.pasting = null;
      });
    this.pasting = over;
    return pasted;
  }

  submit(kind: Submit["kind"], payload: Uint8Array): Promise<void> {
    return new Promise((fulfil, refuse) => {
      this.backlog.push({ kind, payload, fulfil, refuse });
      this.pump();
    });
  }

  /** There is a new link: send what has no answer again, and what has waited. */
  begin(): void {
    this.isAttached = true;
    this.resend();
    this.pump();
  }

  /** An input was settled, as the attachment has heard. */
  settled({ sequence, error }: Answered): void {
    const waiting = this.inputs.get(sequence);
    this.inputs.delete(sequence);
    if (error === null) waiting?.fulfil();
    else waiting?.refuse(error);
    // The holder counts from elsewhere: what was open under other ids is given up.
    if (error?.code === "input-gap") this.giveUp();
    if (this.attachment.upcoming <= sequence) {
      this.signing?.countedFrom(this.attachment.upcoming);
    }
    this.pump();
  }

  /** Send again later what the holder has no room for now. */
  retry(): void {
    if (!this.attachment.isStalled) return;
    this.forgetRetry ??= this.clock.after(RETRY_MS, () => {
      this.forgetRetry = null;
      if (this.attachment.isStalled) this.resend();
    });
  }

  /** Another operator has the turn (I2). */
  lostTurn(): void {
    this.turnsLost += 1;
    for (const unsent of this.backlog.splice(0)) unsent.refuse(this.turnMoved());
  }

  /** Nothing will be sent any more. */
  fail(error: HoldfastError, isOver: boolean): void {
    this.forgetRetry?.();
    // A user who types `exit` needs no warning that it may not have been read.
    if (isOver) for (const waiting of this.inputs.values()) waiting.refuse(error);
    this.giveUp();
    for (const unsent of this.backlog.splice(0)) unsent.refuse(error);
  }

  private giveUp(): void {
    for (const [sequence, waiting] of this.inputs) {
      waiting.refuse(outcomeUnknown(this.attachment.client, sequence));
    }
    this.inputs.clear();
  }

  private async paste(payload: Uint8Array): Promise<void> {
    const turns = this.turnsLost;
    for (let start = 0; start < payload.length; start += MAX_INPUT) {
      if (this.turnsLost !== turns) throw this.turnMoved();
      await this.submit("keys", payload.slice(start, start + MAX_INPUT));
    }
  }

  private pump(): void {
    while (this.isAttached && this.backlog.length > 0 && this.hasRoom()) {
      const { kind, payload, ...waiting } = this.backlog.shift()!;
      const made = this.attachment.submit(kind, payload);
      this.signing?.note(made);
      this.inputs.set(made.sequence, waiting);
      // While others wait to be sent again, this one waits behind them.
      if (!this.attachment.isStalled) this.say(["SUBMIT", made]);
    }
  }

  private hasRoom(): boolean {
    const { open } = this.attachment;
    const size = open.reduce((sum, one) => sum + one.payload.length, 0);
    return open.length < MAX_OPEN && size < MAX_OPEN_BYTES;
  }

  private resend(): void {
    const open = this.attachment.open.map((made): Said => ["SUBMIT", made]);
    if (open.length > 0) this.say(...open);
  }

  private turnMoved(): HoldfastError {
    const { holder, epoch } = this.attachment;
    return new HoldfastError("turn-moved", "the turn has moved", { holder, epoch });
  }
}
