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

test("a seize is loud, and says what was thrown away", () => {
  const seized = entry(0, "turn", { from: "robo", to: "anna", reason: "seized", dropped_inputs: 3 });
  const [line] = story([seized], nameOf);

  expect(line).toMatchObject({ actor: "anna", tone: "loud" });
  expect(line?.text).toBe("seized the turn from ROBO; 3 inputs thrown away");
});

test("what somebody means by an act is told", () => {
  const said = entry(0, "intended", { actor: "robo", act: "run", intent: "see what fails" });

  expect(story([said], nameOf)[0]?.text).toBe("means to run: see what fails");
});

test("that an input was applied is not worth a line", () => {
  expect(story([entry(0, "settled", { as: "applied", of: 1 })], nameOf)).toEqual([]);
});

test("an entry without its members, or of a kind of a later version, is told all the same (I1)", () => {
  const kinds = ["turn", "input", "granted", "began", "changed", "answered", "exec", "later"];
  const lines = story(
    kinds.map((kind, index) => entry(index, kind)),
    nameOf,
  );

  expect(lines.every((line) => line.text !== "")).toBe(true);
});

test("nothing in an entry can pretend to be another line", () => {
  const [line] = story([entry(0, "began", { line: "x\n12:00 anna denied\u202e", trigger: "r" })], nameOf);

  expect(line?.text).toBe("ran x\\x0a12:00 anna denied\\u202e");
});
