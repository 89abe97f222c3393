/**
 * What happened in a session, told so that people like to read it?
 *
 * The twin of cli/story.py in short: an entry becomes a sentence, or none, or
 * joins the one before. Keys that one operator presses in quick succession are
 * one line. That an input was applied is not worth a line; that it was not, is.
 * Whatever an entry says may have been chosen by somebody hostile.
 *
 * I1  Whatever the entries, `story` returns and throws nothing.
 */

import type { LogEntry } from "../protocol/api.js";
import { shown, shownKeys } from "./shown-text.js";

export interface StoryLine {
  readonly index: number;
  readonly at: number;
  /** Empty: the session's own. */
  readonly actor: string;
  readonly text: string;
  readonly tone: "plain" | "quiet" | "loud";
  /** The command's number, to ask who is behind it; 0 for none. */
  readonly command: number;
}

/** How an actor is called. */
export type NameOf = (actor: string) => string;

const RUN_GAP_MS = 2000;
const ALL_RIGHTS = 13;

/** Return the lines that tell `entries`, in their order. */
export function story(entries: readonly LogEntry[], nameOf: NameOf): StoryLine[] {
  const lines: StoryLine[] = [];
  let run: LogEntry[] = [];
  const flush = (): void => {
    if (run.length > 0) {
      lines.push(typed(run, nameOf));
      run = [];
    }
  };
  for (const entry of entries) {
    if (isSilent(entry)) {
      continue;
    }
    if (entry.kind === "input" && word(entry, "input") === "keys") {
      if (!joins(run, entry)) {
        flush();
      }
      run.push(entry);
      if (/[\r\n]$/u.test(text(payload(entry)))) {
        flush();
      }
      continue;
    }
    flush();
    lines.push(told(entry, nameOf));
  }
  flush();
  return lines;
}

function isSilent(entry: LogEntry): boolean {
  const isApplied = entry.kind === "settled" && word(entry, "as") === "applied";
  const isUnchanged = entry.kind === "changed" && word(entry, "changes") === "";
  return isApplied || isUnchanged || ["signed", "finished"].includes(entry.kind);
}

function joins(run: readonly LogEntry[], entry: LogEntry): boolean {
  const last = run.at(-1);
  if (last === undefined) {
    return false;
  }
  const isNear = entry.at - last.at >= 0 && entry.at - last.at <= RUN_GAP_MS;
  const isSame = ["actor", "approver"].every((name) => last.more[name] === entry.more[name]);
  return isNear && isSame && "secret" in last.more === "secret" in entry.more;
}

function typed(run: readonly LogEntry[], nameOf: NameOf): StoryLine {
  const first = run[0] as LogEntry;
  const whole = run.flatMap((entry) => [...payload(entry)]);
  const what =
    "secret" in first.more
      ? "typed something that the terminal did not echo"
      : `typed ${shownKeys(Uint8Array.from(whole))}`;
  return line(first, word(first, "actor"), what + staged(run.at(-1) ?? first, nameOf));
}

function told(entry: LogEntry, nameOf: NameOf): StoryLine {
  const teller = TELLERS[entry.kind];
  const by = word(entry, "by") || word(entry, "actor");
  if (teller === undefined) {
    return line(entry, by, entry.kind, "quiet");
  }
  return teller(entry, by, nameOf);
}

type Teller = (entry: LogEntry, by: string, nameOf: NameOf) => StoryLine;

const sentence =
  (text: string, tone: StoryLine["tone"] = "quiet"): Teller =>
  (entry, by) =>
    line(entry, by, text + thrownAway(entry), tone);

const TELLERS: Readonly<Record<string, Teller>> = {
  opened: sentence("The session began."),
  attached: sentence("attached"),
  detached: sentence("left"),
  frozen: sentence("froze every process", "loud"),
  thawed: sentence("let the processes run again", "loud"),
  interrupted: sentence("interrupted what ran", "loud"),
  fenced: sentence("The lease ran out.", "loud"),
  resumed: sentence("Another process took the session up."),
  recovered: sentence("The next life began.", "loud"),
  exited: (entry) => line(entry, "", `The program ended: ${said(entry, "how")}`, "loud"),
  ending: (entry, by) =>
    line(entry, by, `ends the session with signal ${said(entry, "signal")}`, "loud"),
  input: (entry, by, nameOf) => line(entry, by, acted(entry) + staged(entry, nameOf)),
  refused: (entry, by) =>
    line(entry, by, `was refused: ${said(entry, "code")}${rule(entry)}`, "loud"),
  declined: (entry, by) =>
    line(entry, by, `asked in vain for ${said(entry, "request")}: ${said(entry, "code")}`),
  intended: (entry, by) =>
    line(entry, by, `means to ${said(entry, "act")}: ${said(entry, "intent")}`, "quiet"),
  settled: (entry) =>
    line(entry, "", `Input ${said(entry, "of")} was ${said(entry, "as")}.`, "loud"),
  asked: (entry, by) => line(entry, by, `has to wait for approval${rule(entry)}`),
  answered: (entry, by) =>
    entry.more["yes"] === true
      ? line(entry, by, `approved number ${said(entry, "ticket")}`)
      : line(entry, by, `denied number ${said(entry, "ticket")}`, "loud"),
  granted: (entry, by, nameOf) =>
    line(
      entry,
      by,
      word(entry, "by") === ""
        ? `may by default: ${rights(entry)}`
        : `lets ${nameOf(word(entry, "actor"))} do: ${rights(entry)}`,
      "quiet",
    ),
  revoked: (entry, by, nameOf) =>
    line(entry, by, `lets ${nameOf(word(entry, "actor"))} do nothing here`, "loud"),
  turn: turned,
  began: (entry) =>
    line(entry, word(entry, "trigger"), `ran ${said(entry, "line")}`, "plain"),
  exec: (entry, by) =>
    line(entry, by, `wanted to execute ${said(entry, "program")}: ${said(entry, "as")}`, "loud"),
  changed: (entry) => line(entry, "", `Changed: ${changes(entry)}`, "quiet"),
};

const TURNS: Readonly<Record<string, readonly ["to" | "from", string]>> = {
  taken: ["to", "took the turn"],
  given: ["from", "gave the turn to {other}"],
  answered: ["from", "gave the turn to {other}, who had asked"],
  defaulted: ["to", "got the turn: nobody answered"],
  dropped: ["from", "gave the turn up"],
  seized: ["to", "seized the turn from {other}"],
  expired: ["from", "had the turn long enough"],
  abandoned: ["from", "lost the turn: gone too long"],
  revoked: ["from", "lost the turn with the right to it"],
};

function turned(entry: LogEntry, _: string, nameOf: NameOf): StoryLine {
  const reason = word(entry, "reason");
  const [who, what] = TURNS[reason] ?? ["to", "moved the turn"];
  const other = word(entry, who === "to" ? "from" : "to");
  const name = other === "" ? "nobody" : nameOf(other);
  const isLoud = reason === "seized" || reason === "revoked";
  return line(
    entry,
    word(entry, who),
    what.replace("{other}", () => name) + thrownAway(entry),
    isLoud ? "loud" : "plain",
  );
}

function acted(entry: LogEntry): string {
  const given = shownKeys(payload(entry));
  switch (word(entry, "input")) {
    case "command":
      return `sent the command ${given}`;
    case "signal":
      return `sent signal ${given}`;
    case "resize":
      return "changed the size";
    case "answer":
      return "answered with a secret";
    default:
      return `sent ${shown(word(entry, "input"))}`;
  }
}

function staged(entry: LogEntry, nameOf: NameOf): string {
  const by = word(entry, "originators").split(",").filter(Boolean).slice(0, 8);
  const approver = word(entry, "approver");
  const stagers = by.length > 0 ? `, staged by ${by.map(nameOf).join(", ")}` : "";
  return stagers + (approver === "" ? "" : `, approved by ${nameOf(approver)}`);
}

function rights(entry: LogEntry): string {
  const found = word(entry, "rights").split(",").filter(Boolean);
  return found.length >= ALL_RIGHTS ? "everything" : shown(found.join(", ")) || "nothing";
}

function changes(entry: LogEntry): string {
  const found = word(entry, "changes").split("\n");
  const names = found.map((one) => {
    const [sign = "", kind = ""] = one.split(" ");
    return `${sign}${kind} ${one.split(" ").at(-1) ?? ""}`;
  });
  const left = found.length > 4 ? ` and ${found.length - 4} more` : "";
  return shown(names.slice(0, 4).join(", ")) + left;
}

function thrownAway(entry: LogEntry): string {
  const count = entry.more["dropped_inputs"];
  return typeof count === "number" && count > 0 ? `; ${count} inputs thrown away` : "";
}

function rule(entry: LogEntry): string {
  const found = word(entry, "rule");
  return found === "" ? "" : ` (rule ${shown(found)})`;
}

function line(
  entry: LogEntry,
  actor: string,
  what: string,
  tone: StoryLine["tone"] = "plain",
): StoryLine {
  const number = entry.more["number"];
  const command = entry.kind === "began" && typeof number === "number" ? number : 0;
  return { index: entry.index, at: entry.at, actor, text: what, tone, command };
}

function word(entry: LogEntry, name: string): string {
  const found = entry.more[name];
  return typeof found === "string" ? found : "";
}

function said(entry: LogEntry, name: string): string {
  const found = entry.more[name];
  return found === null || found === undefined ? "?" : shown(String(found));
}

function payload(entry: LogEntry): Uint8Array {
  try {
    const raw = atob(word(entry, "data"));
    return Uint8Array.from(raw, (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function text(raw: Uint8Array): string {
  return new TextDecoder().decode(raw);
}
