import { expect, test } from "vitest";
import { story } from "../../src/app/log-story.js";
import type { LogEntry } from "../../src/protocol/api.js";

const nameOf = (actor: string): string => actor.toUpperCase();

function entry(index: number, kind: string, more: LogEntry["more"] = {}, at = index): LogEntry {
  return { index, epoch: 1, incarnation: 1, at, kind, more };
}

function keys(index: number, text: string, actor = "anna", at = index): LogEntry {
  return entry(index, "input", { actor, input: "keys", data: btoa(text) }, at);
}

test("keys that one operator presses in quick succession are one line", () => {
  const lines = story([keys(0, "l"), keys(1, "s"), keys(2, "\r")], nameOf);

  expect(lines.map((line) => line.text)).toEqual(["typed ls⏎"]);
});

test("a pause or another operator begins another line", () => {
  const lines = story([keys(0, "a"), keys(1, "b", "bob"), keys(2, "c", "bob", 9000)], nameOf);

  expect(lines.map((line) => line.text)).toEqual(["typed a", "typed b", "typed c"]);
});

test("what the terminal did not echo is not told", () => {
  const hidden = entry(0, "input", { actor: "anna", input: "keys", secret: "abc" });

  expect(story([hidden], nameOf)[0]?.text).toBe("typed something that the terminal did not echo");
});

test("the command of a start is not hidden behind a long PATH", () => {
  const line = "cd /srv && PATH=/usr/local/sbin:/usr/local/bin:/usr/bin:/bin make";
  const started = entry(0, "input", { actor: "anna", input: "start", data: btoa(line) });

  expect(story([started], nameOf)[0]?.text).toBe(
    "started the session with cd /srv && PATH=/usr/local/sbin:/usr/loc… make",
  );
});

test("a seize is loud, and says what was thrown away", () => {
  const seized = entry(0, "turn", {
    from: "robo",
    to: "anna",
    reason: "seized",
    dropped_inputs: 3,
  });
  const [line] = story([seized], nameOf);

  expect(line).toMatchObject({ actor: "anna", tone: "loud" });
  expect(line?.text).toBe("seized the turn from ROBO; 3 inputs discarded");
});

test("what somebody means by an act is told", () => {
  const said = entry(0, "intended", { actor: "robo", act: "run", intent: "see what fails" });

  expect(story([said], nameOf)[0]?.text).toBe("intends to run: see what fails");
  const asked = entry(0, "intended", { actor: "robo", act: "ask-turn", intent: "go on" });
  expect(story([asked], nameOf)[0]?.text).toBe("intends to ask for the turn: go on");
});

test("rights that nobody granted are had by default, and all of them are not listed", () => {
  // As a holder of this version writes them: all the words of model/envelopes.py.
  const every =
    "approve,checkpoint,command,create,end,fork,grant,input,move,observe,resize,seize,signal,take";
  const told = (rights: string) =>
    story([entry(0, "granted", { by: "", actor: "robo", rights })], nameOf)[0]?.text;

  expect(told(every)).toBe("has all rights by default");
  expect(told("input,observe")).toBe("has input, observe by default");
});

test("images and lives are told with who made them", () => {
  const told = story(
    [
      entry(0, "imaged", { by: "anna", image: 1, label: "before" }),
      entry(1, "stopped", { by: "anna", image: 2, label: "" }),
      { ...entry(2, "recovered", { by: "bob", image: 2 }), incarnation: 2 },
      { ...entry(3, "recovered", { by: "bob" }), incarnation: 3 },
    ],
    nameOf,
  );

  expect(told.map((line) => line.text)).toEqual([
    "saved the session to disk as image 1 “before”",
    "saved the session to disk as image 2, and ended it",
    "restored the session from image 2 (incarnation 2)",
    "recovered the session (incarnation 3)",
  ]);
  expect(told.map((line) => line.actor)).toEqual(["anna", "anna", "bob", "bob"]);
});

test("that an input was applied is not worth a line", () => {
  expect(story([entry(0, "settled", { as: "applied", of: 1 })], nameOf)).toEqual([]);
});

test("an entry without its members, or of a kind of a later version, is told all the same (I1)", () => {
  const kinds = [
    "turn",
    "input",
    "granted",
    "finished",
    "began",
    "changed",
    "answered",
    "exec",
    "later",
  ];
  const lines = story(
    kinds.map((kind, index) => entry(index, kind)),
    nameOf,
  );

  expect(lines.every((line) => line.text !== "")).toBe(true);
});

test("nothing in an entry can pretend to be another line", () => {
  const [line] = story(
    [entry(0, "began", { line: "x\n12:00 anna denied\u202e", trigger: "r" })],
    nameOf,
  );

  expect(line?.text).toBe("started x\\x0a12:00 anna denied\\u202e");
});

test("a command is told with how it ended, where it began", () => {
  const began = entry(0, "began", { number: 7, line: "make", trigger: "anna" });
  const ended = entry(2, "finished", { number: 7, status: 2, duration: 3000 });

  expect(story([began, keys(1, "q")], nameOf)[0]?.text).toBe("started make");
  expect(story([began, keys(1, "q"), ended], nameOf).map((line) => line.text)).toEqual([
    "ran make, status 2, 3 s",
    "typed q",
  ]);
});

test("a command is ended by its own end, be there others of its number or none", () => {
  const before = entry(0, "began", { number: 1, line: "old", trigger: "anna" });
  const began = entry(1, "began", { number: 1, line: "new", trigger: "anna" });
  const ended = entry(2, "finished", { number: 1, status: null });

  expect(story([before, began, ended], nameOf).map((line) => line.text)).toEqual([
    "started old",
    "ran new, status not known",
  ]);
  expect(story([ended], nameOf)[0]?.text).toBe("Command 1 exited, status not known");
});

test("what a shell brings along is counted, and what changes is named", () => {
  const brought = entry(0, "changed", { changes: "= variable abc HOME\n= alias def ll", more: 3 });
  const set = entry(1, "changed", { changes: "+ variable abc FACTOR" });

  expect(story([brought, set], nameOf).map((line) => line.text)).toEqual([
    "The shell has 5 variables, aliases and functions.",
    "Changed: +variable FACTOR",
  ]);
});

test("a session that was to be a capsule says why it is none", () => {
  const lines = story([entry(0, "opened"), entry(1, "opened", { no_capsule: "no user" })], nameOf);

  expect(lines.map((line) => [line.text, line.tone])).toEqual([
    ["The session started.", "quiet"],
    ["The session started, without a capsule: no user", "loud"],
  ]);
});
