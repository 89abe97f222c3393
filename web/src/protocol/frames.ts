/**
 * Frames: the envelope every message of a session travels in.
 *
 *     offset  size  field
 *     0       1     kind
 *     1       4     length of the payload, big endian
 *     5       n     payload
 *
 * Normative in docs/spec/wire.md, section 2. This file and src/holdfast/wire/
 * frames.py agree on tests/wire/vectors/streams.json.
 */

import { HoldfastError } from "./errors.js";
import type { Bodies } from "./messages.js";
import { KINDS } from "./messages.js";
import { joined } from "./text.js";

export const MAX_PAYLOAD = 262_144;
const HEADER = 5;
const KNOWN = new Map<number, keyof Bodies>(
  Object.entries(KINDS).map(([name, number]) => [number, name as keyof Bodies]),
);

export interface Frame {
  readonly kind: keyof Bodies;
  readonly payload: Uint8Array;
}

export function frameBytes(kind: keyof Bodies, payload: Uint8Array): Uint8Array {
  const header = new Uint8Array(HEADER);
  header[0] = KINDS[kind];
  new DataView(header.buffer).setUint32(1, payload.length);
  return joined(header, payload);
}

/** Turns a stream of bytes, however it was cut, into frames. */
export class FrameReader {
  private held: Uint8Array = new Uint8Array(0);

  /** How many bytes of a frame that is not whole are held. */
  get rest(): number {
    return this.held.length;
  }

  /** Take bytes; return every frame they complete. Throws on the header alone. */
  feed(data: Uint8Array): Frame[] {
    // A chunk is seldom the end of another: it is copied only then.
    const whole = this.held.length > 0 ? joined(this.held, data) : data;
    const view = new DataView(whole.buffer, whole.byteOffset, whole.length);
    const found: Frame[] = [];
    let at = 0;
    while (whole.length > at) {
      const kind = KNOWN.get(whole[at]!);
      if (kind === undefined) throw unknownKind(whole[at]!);
      if (whole.length - at < HEADER) break;
      const size = view.getUint32(at + 1);
      if (size > MAX_PAYLOAD) throw tooLarge(size, MAX_PAYLOAD);
      if (whole.length - at < HEADER + size) break;
      found.push({ kind, payload: whole.subarray(at + HEADER, at + HEADER + size) });
      at += HEADER + size;
    }
    this.held = whole.slice(at);
    return found;
  }
}

function unknownKind(kind: number): HoldfastError {
  return new HoldfastError("unknown-frame-kind", `there is no frame of kind ${kind}`, { kind });
}

export function tooLarge(size: number, limit: number): HoldfastError {
  const text = `a message of ${size} bytes is over the limit of ${limit}`;
  return new HoldfastError("frame-too-large", text, { size, limit });
}
