import { expect, test } from "vitest";
import { byUrgency, type Listed, needOf } from "../../src/app/urgency.js";
import type { Glance, Pending, SessionInfo } from "../../src/protocol/api.js";

function listed(name: string, state: string | null, more: Partial<SessionInfo> = {}): Listed {
  const info = {
    id: `s_${name}`,
    name,
    pid: 1,
    state: "alive",
    exit: null,
    command: ["sh"],
    cwd: "/",
    createdMs: 1000,
    size: null,
    keep: false,
    dozing: false,
    idleMs: 0,
    doing: "",
    turnOf: "",
    attached: [],
    outputMs: 0,
    attention: null,
    ...more,
  } as SessionInfo;
  return { info, glance: state === null ? null : glance(state) };
}

function glance(state: string, pending: readonly Pending[] = []): Glance {
  return {
    evidence: { state } as Glance["evidence"],
    presence: { pending, frozen: state === "frozen" } as Glance["presence"],
    title: "",
    lastLine: "",
  };
}

const CALL = { what: "message", text: "may I?", sinceMs: 1, source: "program" };

const SESSIONS = [
  listed("over", null, { exit: 0 }),
  listed("running", "running"),
  listed("frozen", "frozen"),
  listed("input", "waiting-for-input"),
  listed("calls", "idle", { attention: CALL }),
  listed("secret", "waiting-for-secret"),
  { ...listed("approval", "running"), glance: glance("running", [{} as Pending]) },
];

test("whoever needs somebody comes first, and what has ended last", () => {
  const names = byUrgency(SESSIONS).map((one) => one.info.name);

  expect(names).toEqual(["approval", "secret", "calls", "input", "frozen", "running", "over"]);
});

test("the order does not depend on the order of the host's list (I1)", () => {
  const one = byUrgency(SESSIONS);

  expect(byUrgency([...SESSIONS].reverse())).toEqual(one);
});

test("of equals the latest comes first", () => {
  const old = listed("old", "running", { createdMs: 1 });
  const late = listed("late", "running", { createdMs: 2 });

  expect(byUrgency([old, late]).map((one) => one.info.name)).toEqual(["late", "old"]);
});

test("a session that nobody has looked at needs nobody yet", () => {
  expect(needOf(listed("new", null))).toBe("none");
});

test("a call for somebody counts before it was polled, but not for more than an approval", () => {
  const call = { attention: CALL };

  expect(needOf(listed("far", null, call))).toBe("attention");
  expect(needOf(listed("asks", "waiting-for-input", call))).toBe("attention");
  expect(needOf(listed("secret", "waiting-for-secret", call))).toBe("secret");
  expect(needOf(listed("cold", "frozen", call))).toBe("frozen");
  expect(needOf(listed("over", null, { ...call, exit: 0 }))).toBe("over");
});
