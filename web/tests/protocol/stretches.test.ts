import { expect, test } from "vitest";
import type { SessionEvent, SessionLink } from "../../src/protocol/api.js";
import { MAX_STRETCH, readStretch } from "../../src/protocol/stretches.js";
import { HandClock } from "../hand-clock.js";

/** A link that says what a test wants, once somebody listens. */
function link(...events: readonly SessionEvent[]): SessionLink {
  const listen = (hear: (event: SessionEvent) => void): (() => void) => {
    queueMicrotask(() => events.forEach(hear));
    return () => undefined;
  };
  return { listen } as unknown as SessionLink;
}

const printed = (offset: number, text: string): SessionEvent => ({
  is: "printed",
  offset,
  data: new TextEncoder().encode(text),
});

const read = async (from: SessionLink, start: number, end: number): Promise<string | null> => {
  const found = await readStretch(from, { incarnation: 1, start, end }, new HandClock());
  return found === null ? null : new TextDecoder().decode(found);
};

test("a stretch is joined of parts, and ends where it was to end", async () => {
  expect(await read(link(printed(10, "abc"), printed(13, "defgh")), 10, 16)).toBe("abcdef");
});

test("nothing is read for an empty stretch", async () => {
  expect(await read(link(), 10, 10)).toBe("");
});

test.each<[string, SessionEvent]>([
  ["a gap", { is: "gap", start: 10, end: 40 }],
  ["the end of the session", { is: "exited", status: 0 }],
  ["a link that is over", { is: "link", state: { is: "over", status: 0, why: "" } }],
])("after %s there is nothing to wait for", async (_, event) => {
  expect(await read(link(printed(10, "ab"), event), 10, 16)).toBeNull();
});

test("what does not follow is not taken for what was asked for", async () => {
  const gap: SessionEvent = { is: "gap", start: 0, end: 0 };

  expect(await read(link(printed(12, "abcd"), gap), 10, 16)).toBeNull();
});

test("a stretch that is too long, or runs backwards, is not read", async () => {
  expect(await read(link(), 0, MAX_STRETCH + 1)).toBeNull();
  expect(await read(link(), 10, 5)).toBeNull();
});

test("nobody waits for ever", async () => {
  const clock = new HandClock();
  const found = readStretch(link(), { incarnation: 1, start: 0, end: 5 }, clock);
  clock.pass(10_000);

  expect(await found).toBeNull();
});
