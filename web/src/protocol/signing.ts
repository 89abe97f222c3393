/**
 * What this client has signed of its inputs, and when it signs next.
 *
 * Theory of operation
 * -------------------
 * Every input goes into a chain (InputChain) as it is sent. What the holder says is in
 * the book, applied or not, can be signed: a command at once, keys once a second at
 * most. One statement is on its way at a time; until the holder has it in the book, it
 * is sent again on each new link. The twin of src/holdfast/core/client/signing.py.
 *
 * Nothing waits for a signature, and none is worth an error: what is not signed, the
 * book lists as unsigned.
 *
 * I1  Only what the holder has in the book is signed, and all that was sent before it.
 * I2  A statement is sent unchanged until it is confirmed or refused.
 * I3  After something that cannot be made good, nothing more is signed.
 */

import { CADENCE_MS, MAX_LINKS, MAX_UNSIGNED } from "./client-limits.js";
import type { Message } from "./codec.js";
import { InputChain } from "./input-chain.js";
import type { Sign, Submit } from "./messages.js";
import { KINDS } from "./messages.js";
import type { Clock, Identity, Suite } from "./ports.js";

/** The signer: its key and its id. */
export interface Pen {
  readonly us: Identity;
  readonly actor: string;
}

export class Signing {
  private readonly chain: InputChain;
  private booked = 0;
  private isHasty = false;
  private sent: Promise<Sign> | null = null;
  private sentLast = 0;
  private isOnItsWay = false;
  private links = 0;
  private isOver = false;
  private forgetTimer: (() => void) | null = null;

  constructor(
    suite: Suite,
    private readonly clock: Clock,
    private readonly pen: Pen,
    session: string,
    private readonly client: string,
    /** Hands a statement over on the present link, if there is one. */
    private readonly say: (statement: Sign) => void,
  ) {
    this.chain = new InputChain(suite, session, client, suite.random(32));
  }

  /** Take an input as it is sent for the first time. */
  note(made: Submit): void {
    if (this.isOver) return;
    if (this.chain.last - this.chain.signed >= MAX_UNSIGNED) {
      this.giveUp();
      return;
    }
    this.chain.note(made);
    this.isHasty ||= made.kind !== "keys" && made.kind !== "resize";
  }

  /** Take what the holder says of inputs and statements. */
  hear(message: Message): void {
    if (message.is === "ACKNOWLEDGE" || message.is === "REPORT") {
      const { client, sequence } = message.body;
      if (client === this.client) {
        this.booked = Math.max(this.booked, Math.min(sequence, this.chain.last));
      }
    } else if (message.is === "SIGNED") {
      this.confirmed(message.body.client, message.body.last);
    } else if (message.is === "REFUSE" && message.body.refused === KINDS.SIGN) {
      this.isOnItsWay = false;
      if (message.body.code !== "asked-too-often") this.giveUp();
    }
    this.plan();
  }

  /** The holder expects `sequence` next, whatever was sent. */
  countedFrom(sequence: number): void {
    if (this.isOver) return;
    // One that was signed comes a second time: the holder has forgotten us.
    if (sequence <= this.chain.signed) this.giveUp();
    else this.chain.forgetFrom(sequence);
    this.booked = Math.min(this.booked, sequence - 1);
  }

  /** There is a new link: send again what is not confirmed. */
  begin(): void {
    if (this.sent === null) return;
    this.links += 1;
    if (this.links > MAX_LINKS) this.giveUp();
    else void this.handOver(this.sent);
  }

  /** Sign what is left, now; null if nothing is. */
  rest(): Promise<Sign> | null {
    this.forgetTimer?.();
    return this.sent ?? this.made();
  }

  private confirmed(client: string, last: number): void {
    if (this.sent === null || client !== this.client || last < this.sentLast) return;
    this.sent = null;
    this.isOnItsWay = false;
  }

  private plan(): void {
    const isIdle = this.isOver || this.isOnItsWay || this.forgetTimer !== null;
    const hasSome = this.sent !== null || this.booked > this.chain.signed;
    if (isIdle || !hasSome) return;
    const wait = this.isHasty && this.sent === null ? 0 : CADENCE_MS;
    const forget = this.clock.after(wait, () => {
      this.forgetTimer = null;
      const statement = this.rest();
      if (statement !== null) void this.handOver(statement);
    });
    this.forgetTimer = () => {
      this.forgetTimer = null;
      forget();
    };
  }

  private made(): Promise<Sign> | null {
    if (this.isOver) return null;
    this.sent = this.chain.sign(this.pen.us, this.pen.actor, this.booked);
    this.sentLast = this.chain.signed;
    this.isHasty = false;
    this.links = 1;
    return this.sent;
  }

  private async handOver(statement: Promise<Sign>): Promise<void> {
    this.isOnItsWay = true;
    try {
      const made = await statement;
      if (this.sent === statement) this.say(made);
    } catch {
      this.giveUp(); // A browser that cannot sign signs nothing.
    }
  }

  private giveUp(): void {
    this.isOver = true;
    this.isOnItsWay = false;
    this.sent = null;
    this.forgetTimer?.();
  }
}
