/**
 * Encodes and decodes the messages of a session.
 *
 * Normative in docs/spec/wire.md, sections 3 and 4. This file and src/holdfast/wire/
 * codec.py agree on tests/wire/vectors/messages.json and refused.json.
 */

import { HoldfastError, malformed, noCommonVersion } from "./errors.js";
import type { Frame } from "./frames.js";
import { frameBytes } from "./frames.js";
import type { Bodies, Output, Refuse } from "./messages.js";
import { SHAPES, SPOKEN } from "./messages.js";
import type { Shape } from "./shapes.js";
import { Misfit, Reader, Writer } from "./shapes.js";

/** Everything that can be said to or by a session. */
export type Message = {
  readonly [Kind in keyof Bodies]: {
    readonly is: Kind;
    readonly body: Bodies[Kind];
  };
}[keyof Bodies];

const OFFSET = 8;
const MAX_OUTPUT = 65_536;
const TWO_32 = 2 ** 32;

/** Encode a message as a frame. Throws if a field is out of bounds. */
export function encode<Kind extends keyof Bodies>(is: Kind, body: Bodies[Kind]): Uint8Array {
  try {
    if (is === "OUTPUT") return frameBytes(is, outputBytes(body as Output));
    const out = new Writer();
    (SHAPES[is] as unknown as Shape<Bodies[Kind]>).write(out, body);
    return frameBytes(is, out.done());
  } catch (thrown) {
    if (!(thrown instanceof Misfit)) throw thrown;
    const facts = { kind: is, why: thrown.message };
    throw new HoldfastError("unwritable-message", `${is}: ${thrown.message}`, facts);
  }
}

/** Read a frame. Throws if it is not written the one way it can be. */
export function decode({ kind, payload }: Frame): Message {
  try {
    if (kind === "OUTPUT") return { is: kind, body: readOutput(payload) };
    const from = new Reader(payload);
    const body = SHAPES[kind].read(from);
    if (!from.isDone) throw new Misfit("something follows it");
    return { is: kind, body } as Message;
  } catch (thrown) {
    if (!(thrown instanceof Misfit)) throw thrown;
    throw malformed(kind, thrown.message);
  }
}

function outputBytes({ offset, data }: Output): Uint8Array {
  checkOutput(offset, data.length);
  const raw = new Uint8Array(OFFSET + data.length);
  const view = new DataView(raw.buffer);
  view.setUint32(0, Math.floor(offset / TWO_32));
  view.setUint32(4, offset % TWO_32);
  raw.set(data, OFFSET);
  return raw;
}

function readOutput(payload: Uint8Array): Output {
  if (payload.length <= OFFSET) throw new Misfit("it prints nothing");
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  const offset = view.getUint32(0) * TWO_32 + view.getUint32(4);
  const data = payload.subarray(OFFSET);
  checkOutput(offset, data.length);
  return { offset, data };
}

function checkOutput(offset: number, size: number): void {
  const isSane = Number.isSafeInteger(offset) && Number.isSafeInteger(offset + size);
  if (!isSane || offset < 0) throw new Misfit("its offset is none");
  if (size < 1 || size > MAX_OUTPUT) throw new Misfit(`it prints ${size} bytes`);
}

export function refusalError(refuse: Refuse): HoldfastError {
  return new HoldfastError(refuse.code, refuse.text, refuse.facts, {
    retryable: refuse.retryable,
    nextStep: refuse.next_step,
  });
}

/** The highest version that both speak. Throws if there is none. */
export function chooseVersion(theirs: readonly number[], ours: readonly number[] = SPOKEN): number {
  const common = ours.filter((version) => theirs.includes(version));
  if (common.length === 0) throw noCommonVersion(ours.join(", "), theirs.join(", "));
  return Math.max(...common);
}
