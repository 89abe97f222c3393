/**
 * Requests to a host through a channel, and their encoding.
 *
 * Each packet is a JSON object, its length in four bytes before it (docs/spec/
 * operators.md, section 5; the twin of src/holdfast/wire/host_requests.py). What comes
 * is a stranger's, and is read field by field.
 */

import type { Attention } from "./attention.js";
import { HoldfastError, malformed } from "./errors.js";
import { tooLarge } from "./frames.js";
import type { Cells } from "./messages.js";
import type { Parent } from "./parent.js";
import type { Facts } from "./shapes.js";
import { fromUtf8, joined, printable, utf8 } from "./text.js";

const MAX_PACKET = 65_536;
const LENGTH = 4;

export type Packet = Readonly<Record<string, unknown>>;

export function packetBytes(packet: Packet): Uint8Array {
  const raw = utf8(JSON.stringify(packet));
  if (raw.length > MAX_PACKET) {
    const text = `a request of ${raw.length} bytes is too large`;
    throw new HoldfastError("request-too-large", text, { size: raw.length });
  }
  const head = new Uint8Array(LENGTH);
  new DataView(head.buffer).setUint32(0, raw.length);
  return joined(head, raw);
}

/** Turns a stream of bytes, however it was cut, into packets, one at a time. */
export class PacketReader {
  private held: Uint8Array = new Uint8Array(0);

  feed(data: Uint8Array): void {
    this.held = joined(this.held, data);
  }

  /** The first packet, or null while it is not whole. */
  take(): Packet | null {
    if (this.held.length < LENGTH) return null;
    const view = new DataView(this.held.buffer, this.held.byteOffset, LENGTH);
    const size = view.getUint32(0);
    if (size > MAX_PACKET) throw tooLarge(size, MAX_PACKET);
    if (this.held.length < LENGTH + size) return null;
    const packet = parsed(this.held.subarray(LENGTH, LENGTH + size));
    this.held = this.held.slice(LENGTH + size);
    return packet;
  }
}

function parsed(raw: Uint8Array): Packet {
  let packet: unknown = null;
  try {
    packet = JSON.parse(fromUtf8(raw));
  } catch {
    // It is refused below, with whatever else is no object.
  }
  if (typeof packet !== "object" || packet === null || Array.isArray(packet)) {
    throw malformed("packet", "it is no JSON object");
  }
  return packet as Packet;
}

/** The error that an answer tells of. */
export function packetError(answer: Packet): HoldfastError {
  const facts: Record<string, string | number> = {};
  const told = answer["facts"];
  if (typeof told === "object" && told !== null) {
    for (const [name, fact] of Object.entries(told)) {
      if (typeof fact === "string" || typeof fact === "number") facts[name] = fact;
    }
  }
  return new HoldfastError(textOf(answer, "code"), textOf(answer, "text"), facts as Facts);
}

export function textOf(packet: Packet, name: string): string {
  const value = packet[name];
  return typeof value === "string" ? value : "";
}

export function numberOf(packet: Packet, name: string): number {
  const value = packet[name];
  return Number.isSafeInteger(value) ? (value as number) : 0;
}

export function isPacket(told: unknown): told is Packet {
  return typeof told === "object" && told !== null && !Array.isArray(told);
}

/** A stranger's text, as it may be shown. */
export function shownOf(packet: Packet, name: string): string {
  return printable(textOf(packet, name));
}

export function numberOrNull(packet: Packet, name: string): number | null {
  return typeof packet[name] === "number" ? numberOf(packet, name) : null;
}

export function flagOf(packet: Packet, name: string): boolean {
  return packet[name] === true;
}

export function wordsOf(packet: Packet, name: string): readonly string[] {
  const words = packet[name];
  return Array.isArray(words) ? words.map((word) => printable(String(word))) : [];
}

export function cellsOf(packet: Packet, name: string): Cells | null {
  const size = packet[name];
  if (!Array.isArray(size)) return null;
  const [columns, rows] = size as unknown[];
  const isSize = typeof columns === "number" && typeof rows === "number";
  return isSize ? { columns, rows } : null;
}

export function attentionOf(packet: Packet, name: string): Attention | null {
  const told = packet[name];
  if (!isPacket(told) || textOf(told, "what") === "") return null;
  return {
    what: shownOf(told, "what"),
    text: shownOf(told, "text"),
    sinceMs: numberOf(told, "since_ms"),
    source: shownOf(told, "source"),
  };
}

export function parentOf(packet: Packet, name: string): Parent | null {
  const told = packet[name];
  if (!isPacket(told) || textOf(told, "session") === "") return null;
  return {
    session: shownOf(told, "session"),
    image: numberOf(told, "image"),
    incarnation: numberOf(told, "incarnation"),
    entry: numberOf(told, "entry"),
  };
}
