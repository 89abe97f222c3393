import { expect, test } from "vitest";
import { commandBlocks, isRepeatable } from "../../src/app/command-blocks.js";
import type { LogEntry } from "../../src/protocol/api.js";

function entry(kind: string, more: LogEntry["more"] = {}, incarnation = 1): LogEntry {
  return { index: 0, epoch: 1, incarnation, at: 5, kind, more };
}

const began = (number: number, more: LogEntry["more"] = {}, life = 1): LogEntry =>
  entry("began", { number, line: "make", trigger: "a_x", offset: 10, ...more }, life);

const finished = (number: number, more: LogEntry["more"] = {}, life = 1): LogEntry =>
  entry("finished", { number, status: 0, offset: 90, duration: 340, cwd: "/srv", ...more }, life);

test("a command has its line, status, duration, place and the operator behind it", () => {
  expect(commandBlocks([began(1), entry("input"), finished(1)])).toEqual([
    {
      key: "1 1",
      number: 1,
      incarnation: 1,
      at: 5,
      line: "make",
      actor: "a_x",
      start: 10,
      end: 90,
      state: "done",
      status: 0,
      durationMs: 340,
      cwd: "/srv",
    },
  ]);
});

test.each([
  [[began(1)], ["running"]],
  [[began(1), finished(1, { status: 2 })], ["failed"]],
  [[began(1), finished(1, { status: null })], ["unknown"]],
  [
    [began(1), began(2)],
    ["unknown", "running"],
  ],
  [[began(1), entry("exited")], ["unknown"]],
  [
    [began(1), entry("recovered"), began(1, {}, 2), finished(1, {}, 2)],
    ["unknown", "done"],
  ],
  [[finished(1)], []],
] as const)("what %# tells becomes %j", (entries, states) => {
  expect(commandBlocks(entries).map((one) => one.state)).toEqual(states);
});

test("entries of strangers are read without harm (I1)", () => {
  const odd = { number: "x", line: 7, trigger: null, offset: "?" } as LogEntry["more"];

  expect(commandBlocks([entry("began", odd), entry("finished", odd), entry("began")])).toHaveLength(
    1,
  );
});

test.each([
  ["make test", true],
  ["", false],
  ["  ", false],
  ["one\ntwo", false],
  ["x".repeat(1024), false],
  ["ü".repeat(512), false],
])("%j can be run again: %s", (line, expected) => {
  const [block] = commandBlocks([began(1, { line })]);

  expect(block !== undefined && isRepeatable(block)).toBe(expected);
});
