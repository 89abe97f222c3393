import { expect, test } from "vitest";
import { isAutomatic, withControl } from "../../src/app/keys.js";

test.each([
  ["c", "\x03"],
  ["C", "\x03"],
  ["[", "\x1b"],
  [" ", "\0"],
  ["?", "\x7f"],
  ["1", "1"],
  ["é", "é"],
])("Ctrl and %j", (typed, expected) => {
  expect(withControl(typed)).toBe(expected);
});

test("only the first letter of a word that a phone sends at once is changed", () => {
  expect(withControl("cat")).toBe("\x03at");
});

test.each(["\x1b[I", "\x1b[O", "\x1b[<0;1;1M", "\x1b[M abc", "\x1b[?1;2c", "\x1b[5;5R"])(
  "%j is a report, and nobody typed it",
  (data) => {
    expect(isAutomatic(data)).toBe(true);
  },
);

test.each(["a", "\x1b", "\x1b[A", "\x1b[3~", "\x1bOA", "\r"])("%j is a key", (data) => {
  expect(isAutomatic(data)).toBe(false);
});
