import { expect, test } from "vitest";
import { shown, shownKeys, shownName } from "../../src/app/shown-text.js";

test("ordinary text is shown as it is", () => {
  expect(shown("make -j4 && echo naïve 漢字")).toBe("make -j4 && echo naïve 漢字");
});

test.each([
  ["a\u202eb", "a\\u202eb"],
  ["a\u200bb", "a\\u200bb"],
  ["\x1b[31m", "\\x1b[31m"],
  ["a\u00a0b", "a\\xa0b"],
  ["\u{e0041}", "\\U000e0041"],
])("what deceives the eye in %j is shown as an escape", (text, expected) => {
  expect(shown(text)).toBe(expected);
});

test("a long text is cut, and says so", () => {
  expect(shown("x".repeat(300), 10)).toBe(`${"x".repeat(10)}…`);
});

test("a letter that imitates another is told apart in a name", () => {
  expect(shownName("\u0430nna")).toBe("\\u0430nna");
});

test("keys are shown by their signs", () => {
  const typed = new TextEncoder().encode("ls\t\x1b[A\x03\r");

  expect(shownKeys(typed)).toBe("ls⇥↑⌃C⏎");
});

test("a sign that was typed is not taken for the key", () => {
  expect(shownKeys(new TextEncoder().encode("⏎"))).toBe("\\u23ce");
});
