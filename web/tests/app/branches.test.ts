import { expect, test } from "vitest";
import { byBranch, freeName } from "../../src/app/branches.js";
import type { Listed } from "../../src/app/urgency.js";
import { sessionInfo } from "../../src/protocol/session-record.js";

function listed(id: string, parent = ""): Listed {
  const told = {
    id: `s_${id}`,
    name: id,
    parent: parent === "" ? null : { session: `s_${parent}` },
  };
  return { info: sessionInfo(told), glance: null };
}

const drawn = (sessions: readonly Listed[]): string[] =>
  byBranch(sessions).map((one) => `${"  ".repeat(one.depth)}${one.listed.info.name}`);

test("a branch stands below its parent, and a family where the first of it stands", () => {
  const sessions = [
    listed("grandchild", "child"),
    listed("other"),
    listed("root"),
    listed("child", "root"),
  ];

  expect(drawn(sessions)).toEqual(["root", "  child", "    grandchild", "other"]);
});

test("a branch says whose it is, also if that is not listed", () => {
  const told = byBranch([listed("root"), listed("child", "root"), listed("stray", "removed-one")]);

  expect(told.map((one) => one.parent)).toEqual(["", "root", "remove"]);
  expect(told.map((one) => one.depth)).toEqual([0, 1, 0]);
});

test("what a host tells of in a circle is shown once each", () => {
  const circle = [listed("a", "b"), listed("b", "a"), listed("self", "self")];

  expect(
    drawn(circle)
      .map((one) => one.trim())
      .sort(),
  ).toEqual(["a", "b", "self"]);
});

test("a deep line of branches stays on the screen", () => {
  const line = Array.from({ length: 9 }, (_, at) => listed(`${at}`, at === 0 ? "" : `${at - 1}`));

  expect(Math.max(...byBranch(line).map((one) => one.depth))).toBe(4);
});

test("a name for a branch is one that nobody has", () => {
  expect(freeName("box", ["box", "BOX-2"])).toBe("box-3");
  expect(freeName("x".repeat(64), [])).toBe(`${"x".repeat(58)}-2`);
});
