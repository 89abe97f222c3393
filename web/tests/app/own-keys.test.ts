import { expect, test } from "vitest";
import { MAX_OWN_KEYS, ownKeysFrom, sentBy } from "../../src/app/own-keys.js";

test.each([
  ["^R", "\x12"],
  ["^r", "\x12"],
  ["^[", "\x1b"],
  ["^?", "\x7f"],
  ["^@", "\0"],
  ["\\e[Z", "\x1b[Z"],
  ["git status\\r", "git status\r"],
  ["\\x1b\\x7F", "\x1b\x7f"],
  ["\\\\ \\^", "\\ ^"],
  ["ü日", "ü日"],
])("%s sends %j", (written, sent) => {
  expect(sentBy(written)).toBe(sent);
});

test.each(["", "^", "\\", "\\q", "\\xff", "\\x1", "a".repeat(65), "ok^"])(
  "%j is no key",
  (written) => {
    expect(sentBy(written)).toBeNull();
  },
);

test.each([null, "", "{", "7", "null", "{}", '[null, 3, "x"]', '[{"label": "x"}]'])(
  "nothing is read from %j",
  (stored) => {
    expect(ownKeysFrom(stored)).toEqual([]);
  },
);

test("what is a key is read, what is none is left out", () => {
  const good = { label: "^R", sends: "^R" };
  const bad = [
    { label: "", sends: "a" },
    { label: "too-long-a-label", sends: "a" },
    { label: "x", sends: "\\" },
  ];

  expect(ownKeysFrom(JSON.stringify([...bad, good]))).toEqual([good]);
});

test("no more keys are read than there may be", () => {
  const many = Array.from({ length: 500 }, () => ({ label: "a", sends: "a" }));

  expect(ownKeysFrom(JSON.stringify(many))).toHaveLength(MAX_OWN_KEYS);
});
