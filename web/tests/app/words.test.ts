import { expect, test } from "vitest";
import { actorColour } from "../../src/app/actor-colour.js";
import {
  age,
  amount,
  callTold,
  ending,
  rightsTold,
  stateInBrief,
  stateTold,
  toneOf,
  took,
} from "../../src/app/words.js";

test.each([
  [500, "now"],
  [59_000, "59 s"],
  [61_000, "1 min"],
  [7_300_000, "2 h"],
  [200_000_000, "2 d"],
])("%d milliseconds are %s", (ms, expected) => {
  expect(age(ms)).toBe(expected);
});

test.each([
  [12, "12 B"],
  [2048, "2.0 KB"],
  [50 * 1024 * 1024, "50 MB"],
])("%d bytes are %s", (bytes, expected) => {
  expect(amount(bytes)).toBe(expected);
});

test.each([
  ["at-prompt", "calm"],
  ["waiting-for-secret", "needs"],
  ["very-new", "busy"],
  ["constructor", "busy"],
])("the tone of %s is %s", (state, tone) => {
  expect(toneOf(state)).toBe(tone);
});

test("an ending says the status, the signal or the loss", () => {
  expect([ending(3), ending(-9), ending(null, "gone")]).toEqual([
    "Exited with status 3.",
    "Killed by signal 9.",
    "The session was lost: gone",
  ]);
});

test("an operator has one colour, and operators differ", () => {
  const colours = new Set(["a_x", "a_y", "a_z", "b_x", "b_y"].map(actorColour));

  expect(actorColour("a_x")).toBe(actorColour("a_x"));
  expect(colours.size).toBeGreaterThan(1);
});

test.each([
  [-5, "0 ms"],
  [40, "40 ms"],
  [3960, "3 s"],
  [12_900, "12 s"],
  [7_300_000, "2 h"],
])("%i milliseconds are told as %s", (ms, told) => {
  expect(took(ms)).toBe(told);
});

const ALL =
  "observe input command signal resize take seize grant approve end checkpoint fork move create".split(
    " ",
  );

test.each([
  [ALL, "do everything"],
  [ALL.slice(0, -1), "do everything but start sessions"],
  [["observe"], "watch"],
  [["very-new", "input", "observe"], "watch, type, very-new"],
  [[], "do nothing"],
])("the rights %j are told as %s", (rights, told) => {
  expect(rightsTold(rights)).toBe(told);
});

test("a state names the program it is of, and a call is somebody's words", () => {
  expect(stateTold("idle", "vim")).toBe("idle in vim");
  expect(stateTold("at-prompt", "")).toBe("at-prompt");
  expect(["at-prompt", "waiting-for-secret", "running"].map(stateInBrief)).toEqual([
    "prompt",
    "secret",
    "running",
  ]);
  expect(callTold({ text: "may I?" })).toBe("“may I?”");
  expect(callTold({ text: "" })).toBe("rings the bell");
  expect([toneOf("idle"), toneOf("busy")]).toEqual(["calm", "busy"]);
});
