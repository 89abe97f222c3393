/**
 * The story of a session: its logbook as sentences that people like to read.
 *
 * The twin of cli/story.py in short: an entry becomes a sentence, or none, or
 * joins the one before. Keys that one operator presses in quick succession are
 * one line. That an input was applied is not worth a line; that it was not, is.
 * A command is shown where it started, with its outcome once it has ended.
 * Whatever an entry says may have been chosen by an attacker.
 *
 * I1  Whatever the entries, `story` returns and throws nothing.
 */

import type { LogEntry } from "../protocol/api.js";
import { ALL_RIGHTS } from "../protocol/client-limits.js";
import { shown, shownKeys } from "./shown-text.js";
import { took } from "./words.js";

export interface StoryLine {
  readonly index: number;
  readonly at: number;
  /** Empty for the session itself. */
  readonly actor: string;
  readonly text: string;
  readonly tone: "plain" | "quiet" | "loud";
  /** The command's number, to ask who is behind it; 0 for none. */
  readonly command: number;
}

/** Returns an actor's name. */
export type NameOf = (actor: string) => string;

const RUN_GAP_MS = 2000;

/** Return the lines for `entries`, in order. */
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
    const at = entry.kind === "finished" ? beginning(lines, entry) : -1;
    const begun = lines[at];
    if (begun === undefined) {
      lines.push(told(entry, nameOf));
    } else {
      lines[at] = { ...begun, text: begun.text.replace(/^started/u, "ran") + ended(entry) };
    }
  }
  flush();
  return lines;
}

function isSilent(entry: LogEntry): boolean {
  const isApplied = entry.kind === "settled" && word(entry, "as") === "applied";
  const isUnchanged = entry.kind === "changed" && word(entry, "changes") === "";
  return isApplied || isUnchanged || entry.kind === "signed";
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
  opened: (entry, by) => {
    const why = "no_capsule" in entry.more ? said(entry, "no_capsule") : "";
    return why
      ? line(entry, by, `The session started, without a capsule: ${why}`, "loud")
      : line(entry, by, "The session started.", "quiet");
  },
  attached: sentence("attached"),
  detached: sentence("left"),
  frozen: sentence("froze the session", "loud"),
  thawed: sentence("thawed the session", "loud"),
  interrupted: sentence("interrupted the running command", "loud"),
  unbound: (entry) =>
    line(
      entry,
      "",
      `${said(entry, "command")} no longer listens on port ${said(entry, "port")}.`,
      "loud",
    ),
  limited: (entry) =>
    line(
      entry,
      "",
      said(entry, "limit") === "memory"
        ? `The session reached its limit of memory: ${said(entry, "program") || "a program"} was killed.`
        : "The session reached its limit of processes: it could not fork.",
      "loud",
    ),
  fenced: sentence("The lease expired.", "loud"),
  unfenced: sentence("The lease was granted again.", "loud"),
  resumed: sentence("A new holder took over the session."),
  recovered: (entry, by) =>
    line(entry, by, `${begun(entry)} (incarnation ${entry.incarnation})`, "loud"),
  imaged: (entry, by) =>
    line(entry, by, `saved the session to disk as image ${said(entry, "image")}${label(entry)}`),
  forked: (entry, by) => line(entry, by, "made a branch of the session"),
  stopped: (entry, by) =>
    line(
      entry,
      by,
      `saved the session to disk as image ${said(entry, "image")}${label(entry)}, and ended it`,
      "loud",
    ),
  exited: (entry) => line(entry, "", `The program exited: ${said(entry, "how")}`, "loud"),
  swept: (entry, by) =>
    line(
      entry,
      by,
      `ended ${said(entry, "count")} that had left the shell, and left ${said(entry, "left")}`,
    ),
  ending: (entry, by) =>
    line(entry, by, `ended the session with signal ${said(entry, "signal")}`, "loud"),
  input: (entry, by, nameOf) => line(entry, by, acted(entry) + staged(entry, nameOf)),
  refused: (entry, by) =>
    line(entry, by, `was refused: ${said(entry, "code")}${rule(entry)}`, "loud"),
  declined: (entry, by) =>
    line(entry, by, `was refused ${said(entry, "request")}: ${said(entry, "code")}`),
  intended: (entry, by) =>
    line(entry, by, `intends to ${act(entry)}: ${said(entry, "intent")}`, "quiet"),
  settled: (entry) =>
    line(entry, "", `Input ${said(entry, "of")} was ${said(entry, "as")}.`, "loud"),
  asked: (entry, by) => line(entry, by, `waits for approval${rule(entry)}`),
  answered: (entry, by) =>
    entry.more["yes"] === true
      ? line(entry, by, `approved request ${said(entry, "ticket")}`)
      : line(entry, by, `denied request ${said(entry, "ticket")}`, "loud"),
  granted: (entry, by, nameOf) =>
    line(
      entry,
      by,
      word(entry, "by") === ""
        ? `has ${rights(entry)} by default`
        : `granted ${nameOf(word(entry, "actor"))}: ${rights(entry)}`,
      "quiet",
    ),
  revoked: (entry, by, nameOf) =>
    line(entry, by, `revoked all rights of ${nameOf(word(entry, "actor"))}`, "loud"),
  turn: turned,
  began: (entry) => line(entry, word(entry, "trigger"), `started ${said(entry, "line")}`, "plain"),
  finished: (entry) =>
    line(entry, "", `Command ${said(entry, "number")} exited${ended(entry)}`, "quiet"),
  exec: (entry, by) =>
    line(entry, by, `tried to execute ${said(entry, "program")}: ${said(entry, "as")}`, "loud"),
  changed: (entry) => line(entry, "", changes(entry), "quiet"),
};

const ACTS: Readonly<Record<string, string>> = {
  "ask-turn": "ask for the turn",
  "take-turn": "take the turn",
  "give-turn": "give the turn away",
  "drop-turn": "release the turn",
};

function act(entry: LogEntry): string {
  const name = word(entry, "act");
  return Object.hasOwn(ACTS, name) ? (ACTS[name] ?? "") : said(entry, "act");
}

function begun(entry: LogEntry): string {
  return typeof entry.more["image"] === "number"
    ? `restored the session from image ${said(entry, "image")}`
    : "recovered the session";
}

function label(entry: LogEntry): string {
  return word(entry, "label") === "" ? "" : ` “${said(entry, "label")}”`;
}

/** Where the command that just ended was started; below zero if not here. */
function beginning(lines: readonly StoryLine[], entry: LogEntry): number {
  const number = entry.more["number"];
  let at = lines.length - 1;
  while (at >= 0 && (lines[at]?.command === 0 || lines[at]?.command !== number)) {
    at -= 1;
  }
  return at;
}

function ended(entry: LogEntry): string {
  const { status, duration } = entry.more;
  const how = typeof status === "number" ? `, status ${status}` : ", status not known";
  return how + (typeof duration === "number" ? `, ${took(duration)}` : "");
}

const TURNS: Readonly<Record<string, readonly ["to" | "from", string]>> = {
  taken: ["to", "took the turn"],
  given: ["from", "gave the turn to {other}"],
  answered: ["from", "gave the turn to {other}, who had asked"],
  defaulted: ["to", "got the turn: the request was not answered"],
  dropped: ["from", "released the turn"],
  seized: ["to", "seized the turn from {other}"],
  expired: ["from", "lost the turn: its time ran out"],
  abandoned: ["from", "lost the turn: away too long"],
  revoked: ["from", "lost the turn: its rights were revoked"],
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
      return "resized the terminal";
    case "answer":
      return "typed a secret";
    case "start":
      return `started the session with ${shownKeys(brief(payload(entry)))}`;
    default:
      return `sent ${shown(word(entry, "input"))}`;
  }
}

/** Shorten the values of variables, so that the command after them is seen. */
function brief(given: Uint8Array): Uint8Array {
  const shorter = text(given).replace(/(\b[A-Za-z_]\w*=\S{24})\S{8,}/gu, "$1…");
  return new TextEncoder().encode(shorter);
}

function staged(entry: LogEntry, nameOf: NameOf): string {
  const by = word(entry, "originators").split(",").filter(Boolean).slice(0, 8);
  const approver = word(entry, "approver");
  const stagers = by.length > 0 ? `, staged by ${by.map(nameOf).join(", ")}` : "";
  return stagers + (approver === "" ? "" : `, approved by ${nameOf(approver)}`);
}

function rights(entry: LogEntry): string {
  const found = word(entry, "rights").split(",").filter(Boolean);
  return found.length >= ALL_RIGHTS ? "all rights" : shown(found.join(", ")) || "nothing";
}

function changes(entry: LogEntry): string {
  const found = word(entry, "changes").split("\n");
  const unnamed = entry.more["more"];
  if (found.every((one) => one.startsWith("="))) {
    const count = found.length + (typeof unnamed === "number" ? unnamed : 0);
    return `The shell has ${count} variables, aliases and functions.`;
  }
  const names = found.map((one) => {
    const [sign = "", kind = ""] = one.split(" ");
    return `${sign}${kind} ${one.split(" ").at(-1) ?? ""}`;
  });
  const left = found.length > 4 ? ` and ${found.length - 4} more` : "";
  return `Changed: ${shown(names.slice(0, 4).join(", "))}${left}`;
}

function thrownAway(entry: LogEntry): string {
  const count = entry.more["dropped_inputs"];
  return typeof count === "number" && count > 0 ? `; ${count} inputs discarded` : "";
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
