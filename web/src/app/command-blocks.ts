/**
 * The commands of a session, one block each, as its logbook tells them.
 *
 * A shell's marks say where a command began to print and where it ended; the
 * logbook has both, with who entered the line. Whatever an entry says may have been
 * chosen by an attacker.
 *
 * I1  Whatever the entries, `commandBlocks` returns and throws nothing.
 * I2  A block that has no end is the last of its life, or its end is not known.
 */

import type { LogEntry } from "../protocol/api.js";

export interface CommandBlock {
  /** Which it is: the life of the session, and the number there. */
  readonly key: string;
  readonly number: number;
  readonly incarnation: number;
  readonly at: number;
  /** What was entered; empty if the shell did not tell. */
  readonly line: string;
  /** Who pressed Return; empty if nobody can be named. */
  readonly actor: string;
  /** Where its output begins and ends in the stream of that life. */
  readonly start: number;
  readonly end: number | null;
  readonly state: "running" | "done" | "failed" | "unknown";
  /** Null while it runs, and if it is not known. */
  readonly status: number | null;
  readonly durationMs: number | null;
  readonly cwd: string;
}

/** Return the commands that `entries` tell of, oldest first. */
export function commandBlocks(entries: readonly LogEntry[]): CommandBlock[] {
  const found = new Map<string, CommandBlock>();
  let running = null as CommandBlock | null;
  for (const entry of entries) {
    if (entry.kind === "began") {
      if (running !== null) {
        found.set(running.key, { ...running, state: "unknown" });
      }
      running = begun(entry);
      found.set(running.key, running);
    } else if (entry.kind === "finished") {
      const block = found.get(keyOf(entry));
      if (block !== undefined) {
        found.set(block.key, ended(block, entry));
      }
      running = running?.key === keyOf(entry) ? null : running;
    } else if (entry.kind === "exited" || entry.kind === "recovered") {
      if (running !== null) {
        found.set(running.key, { ...running, state: "unknown" });
      }
      running = null;
    }
  }
  return [...found.values()];
}

/** Whether its line can be entered again as it was: one line, and all of it. */
export function isRepeatable(block: CommandBlock): boolean {
  return block.line.trim() !== "" && !/[\x00-\x1f\x7f]/u.test(block.line) && !isCut(block.line);
}

/** Of a longer line a shell tells the first 1,024 bytes. */
function isCut(line: string): boolean {
  return new TextEncoder().encode(line).length >= 1024;
}

function begun(entry: LogEntry): CommandBlock {
  return {
    key: keyOf(entry),
    number: numberIn(entry, "number") ?? 0,
    incarnation: entry.incarnation,
    at: entry.at,
    line: wordIn(entry, "line"),
    actor: wordIn(entry, "trigger"),
    start: numberIn(entry, "offset") ?? 0,
    end: null,
    state: "running",
    status: null,
    durationMs: null,
    cwd: "",
  };
}

function ended(block: CommandBlock, entry: LogEntry): CommandBlock {
  const status = numberIn(entry, "status");
  return {
    ...block,
    end: numberIn(entry, "offset"),
    state: status === null ? "unknown" : status === 0 ? "done" : "failed",
    status,
    durationMs: numberIn(entry, "duration"),
    cwd: wordIn(entry, "cwd"),
  };
}

function keyOf(entry: LogEntry): string {
  return `${entry.incarnation} ${numberIn(entry, "number") ?? "?"}`;
}

function numberIn(entry: LogEntry, name: string): number | null {
  const found = entry.more[name];
  return typeof found === "number" ? found : null;
}

function wordIn(entry: LogEntry, name: string): string {
  const found = entry.more[name];
  return typeof found === "string" ? found : "";
}
