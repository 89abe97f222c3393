/**
 * An operator's signatures over the inputs it sends.
 *
 * The running hash of a client's inputs, and what its operator signs of it. Normative
 * in docs/spec/logbook.md, section 13; the twin of src/holdfast/core/input/input_chain.py,
 * which says why. Both agree on tests/core/vectors/inputs.json.
 *
 * Primitives take their time here, but what is noted, forgotten and signed is decided
 * at once and in order.
 */

import type { Sign, Submit } from "./messages.js";
import type { Identity, Suite } from "./ports.js";
import { hex, joined, utf8 } from "./text.js";

const CONTEXT = "holdfast inputs 1\n";
const SALT = 16;

/** Inputs in one statement. */
export const MAX_SIGNED = 256;

export class InputChain {
  private done = 0;
  private link: Promise<Uint8Array>;
  /** Salt and commitment of each input that was not signed yet. */
  private steps: Promise<Uint8Array>[] = [];

  constructor(
    private readonly suite: Suite,
    private readonly session: string,
    private readonly client: string,
    /** Known to nobody else: salts are made of it. */
    private readonly secret: Uint8Array,
  ) {
    this.link = suite.sha256(utf8(`${CONTEXT}${session}\n${client}\n`));
  }

  /** The sequence of the last input that was signed; 0 before the first. */
  get signed(): number {
    return this.done;
  }

  /** The sequence of the last input that was noted. */
  get last(): number {
    return this.done + this.steps.length;
  }

  /** Take the next input that the client sends. */
  note(made: Submit): void {
    this.steps.push(this.step(made));
  }

  /** Forget the inputs from `sequence` on: nobody counts them. */
  forgetFrom(sequence: number): void {
    this.steps.length = Math.min(this.steps.length, sequence - this.done - 1);
  }

  /** A statement about the next inputs; null if there are none up to there. */
  sign(by: Identity, actor: string, upTo: number): Promise<Sign> | null {
    const count = Math.min(upTo - this.done, MAX_SIGNED, this.steps.length);
    if (count < 1) return null;
    const taken = Promise.all(this.steps.splice(0, count));
    const before = this.done;
    this.done += count;
    const last = this.done;
    const link = this.followed(this.link, before, taken);
    this.link = link;
    return this.statement(by, actor, last, taken, link);
  }

  private async statement(
    by: Identity,
    actor: string,
    last: number,
    taken: Promise<readonly Uint8Array[]>,
    link: Promise<Uint8Array>,
  ): Promise<Sign> {
    const lines = [this.session, actor, this.client, String(last), hex(await link)];
    const text = utf8(CONTEXT + lines.map((line) => `${line}\n`).join(""));
    return {
      client: this.client,
      last,
      steps: joined(...(await taken)),
      key: by.public,
      // A browser's key never gives way to another: it joins anew.
      rotations: new Uint8Array(0),
      signature: await by.sign(text),
    };
  }

  private async followed(
    from: Promise<Uint8Array>,
    before: number,
    taken: Promise<readonly Uint8Array[]>,
  ): Promise<Uint8Array> {
    let link = await from;
    let sequence = before;
    for (const step of await taken) {
      sequence += 1;
      link = await this.suite.sha256(joined(link, number(sequence), step.subarray(SALT)));
    }
    return link;
  }

  private async step(made: Submit): Promise<Uint8Array> {
    const { suite } = this;
    const salt = (await suite.hmac(this.secret, number(made.sequence))).slice(0, SALT);
    const frame = [number(made.incarnation), number(made.epoch), utf8(`${made.kind}\0`)];
    const content = await suite.sha256(joined(utf8(CONTEXT), ...frame, made.payload));
    return joined(salt, await suite.sha256(joined(utf8(CONTEXT), salt, content)));
  }
}

/** A whole number in 8 bytes, the highest first. */
function number(value: number): Uint8Array {
  const raw = new Uint8Array(8);
  const view = new DataView(raw.buffer);
  view.setUint32(0, Math.floor(value / 2 ** 32));
  view.setUint32(4, value % 2 ** 32);
  return raw;
}
