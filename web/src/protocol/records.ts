/**
 * The records of a sealed channel, before and inside the seal.
 *
 *     offset  size  field
 *     0       1     kind
 *     1       2     length of the data, big endian
 *     3       n     data
 *     3 + n   p     zeros, to a multiple of 64 bytes
 *
 * Normative in docs/spec/channel.md, sections 3.2 and 6; the twin of src/holdfast/
 * wire/channel.py.
 */

import { malformed } from "./errors.js";
import { hex, utf8 } from "./text.js";

export const VERSION = 1;
export const INVITE_ID = 16;
export const PAD = 64;
export const MAX_RECORD = 65_472;
const HEADER = 3;
export const MAX_DATA = MAX_RECORD - HEADER;

export const Purpose = { attach: 1, join: 2 } as const;

export const RecordKind = { confirm: 0, data: 1, end: 2 } as const;
export type RecordKind = (typeof RecordKind)[keyof typeof RecordKind];

export interface Record {
  readonly kind: RecordKind;
  readonly data: Uint8Array;
}

export function prologue(host: string, inviteId?: Uint8Array): Uint8Array {
  const purpose = inviteId === undefined ? ["attach"] : ["join", hex(inviteId)];
  const lines = [`holdfast channel ${VERSION}`, host, ...purpose];
  return utf8(lines.map((line) => `${line}\n`).join(""));
}

export function recordBytes(kind: RecordKind, data: Uint8Array): Uint8Array {
  const size = HEADER + data.length;
  const raw = new Uint8Array(Math.ceil(size / PAD) * PAD);
  raw[0] = kind;
  new DataView(raw.buffer).setUint16(1, data.length);
  raw.set(data, HEADER);
  return raw;
}

export function readRecord(raw: Uint8Array): Record {
  if (raw.length < HEADER) throw malformed("record", "it is too short");
  const kind = raw[0]!;
  const size = (raw[1]! << 8) | raw[2]!;
  if (kind !== 0 && kind !== 1 && kind !== 2) {
    throw malformed("record", `there is no kind ${kind}`);
  }
  if (size > 0 !== (kind === RecordKind.data)) {
    throw malformed("record", `kind ${kind} has ${size} bytes of data`);
  }
  const end = HEADER + size;
  if (raw.length < end || raw.subarray(end).some((byte) => byte !== 0)) {
    throw malformed("record", "its data is not followed by zeros");
  }
  return { kind, data: raw.subarray(HEADER, end) };
}
