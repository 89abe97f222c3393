/**
 * Parses a piece of a session's logbook.
 *
 * Lines of JSON, as docs/spec/logbook.md says. Here they are shown, not verified:
 * what a host shows of its own logbook is proven with `holdfast log --verify`.
 */

import type { LogEntry, LogPart } from "./api.js";
import { shownUtf8 } from "./text.js";

const NEWLINE = 0x0a;
const OWN = ["index", "prev", "session", "incarnation", "epoch", "at", "kind"];

/** The whole lines of a piece that begins at byte `from`; `next` is after the last. */
export function readLog(piece: Uint8Array, from: number, size: number): LogPart {
  const end = piece.lastIndexOf(NEWLINE) + 1;
  const lines = shownUtf8(piece.subarray(0, end)).split("\n").slice(0, -1);
  const entries = lines.map(entryOf).filter((entry) => entry !== null);
  return { entries, next: from + end, size };
}

function entryOf(line: string): LogEntry | null {
  let said: unknown;
  try {
    said = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof said !== "object" || said === null) return null;
  const members = said as Record<string, unknown>;
  const more: Record<string, string | number | boolean | null> = Object.create(null);
  for (const [name, value] of Object.entries(members)) {
    const isPlain = value === null || ["string", "number", "boolean"].includes(typeof value);
    if (isPlain && !OWN.includes(name)) more[name] = value as string | number | boolean | null;
  }
  return {
    index: numberIn(members, "index"),
    epoch: numberIn(members, "epoch"),
    incarnation: numberIn(members, "incarnation"),
    at: numberIn(members, "at"),
    kind: String(members["kind"] ?? ""),
    more,
  };
}

function numberIn(members: Record<string, unknown>, name: string): number {
  const value = members[name];
  return typeof value === "number" ? value : 0;
}
