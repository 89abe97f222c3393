import { describe, expect, it } from "vitest";

import { MAX_GRAPH_PARTS } from "../../src/protocol/client-limits.js";
import type { Message } from "../../src/protocol/codec.js";
import { HoldfastError } from "../../src/protocol/errors.js";
import type { Presence } from "../../src/protocol/messages.js";
import { KINDS } from "../../src/protocol/messages.js";
import { done, one, parts, Questions, wholeGraph } from "../../src/protocol/questions.js";
import type { Said } from "../../src/protocol/session-wire.js";
import { HandClock } from "../hand-clock.js";

const PRESENCE: Presence = {
  present: [],
  holder: "",
  epoch: 1,
  waiting: [],
  frozen: false,
  pending: [],
  rights: [],
};
const presence = (holder: string): Message => ({ is: "PRESENCE", body: { ...PRESENCE, holder } });
const refusal = (kind: keyof typeof KINDS): Message => ({
  is: "REFUSE",
  body: {
    refused: KINDS[kind],
    client: "",
    sequence: 0,
    code: "not-allowed",
    text: "no",
    facts: {},
    retryable: false,
    next_step: "",
  },
});

const part = (pid: number, more: boolean): Message => ({
  is: "GRAPH",
  body: {
    processes: [],
    listeners: [{ pid, address: "", port: 1, protocol: "tcp" }],
    connections: [],
    descriptors: [],
    more,
  },
});

function asking() {
  const clock = new HandClock();
  const sent: string[] = [];
  const questions = new Questions(clock, (asked: readonly Said[]) => {
    sent.push(asked.map(([kind]) => kind).join("+"));
  });
  const request = (kind: "TAKE" | "DROP") =>
    questions.ask(
      [
        [kind, {}],
        ["WHO", {}],
      ],
      done(kind),
    );
  return { clock, sent, questions, request };
}

describe("questions", () => {
  it("are asked one after the other", async () => {
    const { sent, questions, request } = asking();
    const answers = Promise.all([request("TAKE"), request("DROP")]);

    expect(sent).toEqual(["TAKE+WHO"]);
    questions.hear(presence("a"));
    expect(sent).toEqual(["TAKE+WHO", "DROP+WHO"]);
    questions.hear(presence("b"));
    expect((await answers).map((one) => one.holder)).toEqual(["a", "b"]);
  });

  it("are refused by a refusal of their own kind and no other", async () => {
    const { questions, request } = asking();
    const answer = request("TAKE").catch((error: HoldfastError) => error.code);
    questions.hear(refusal("DROP"));

    questions.hear(refusal("TAKE"));
    expect(await answer).toBe("not-allowed");
  });

  it("are asked again on a new link, from the beginning", async () => {
    const { sent, questions } = asking();
    const answer = questions.ask(
      [["GRAPH_REQUEST", { descriptors: false }]],
      parts("GRAPH", "GRAPH_REQUEST"),
    );
    questions.hear(part(1, true));

    questions.repeat();
    questions.hear(part(2, true));
    questions.hear(part(3, false));

    expect(sent).toEqual(["GRAPH_REQUEST", "GRAPH_REQUEST"]);
    expect(wholeGraph(await answer).listeners.map((one) => one.pid)).toEqual([2, 3]);
  });

  it("take all the parts of the largest graph that a holder sends, and not endlessly many", async () => {
    const { questions } = asking();
    const ask = () =>
      questions.ask([["GRAPH_REQUEST", { descriptors: false }]], parts("GRAPH", "GRAPH_REQUEST"));
    const largest = ask();
    for (let pid = 1; pid < 512; pid += 1) questions.hear(part(pid, true));
    questions.hear(part(512, false));
    expect(wholeGraph(await largest).listeners).toHaveLength(512);

    const endless = ask().catch((error: HoldfastError) => error.code);
    for (let pid = 0; pid <= MAX_GRAPH_PARTS; pid += 1) questions.hear(part(pid, true));

    expect(await endless).toBe("malformed-message");
  });

  it("are given up in time, counted from when they were asked", async () => {
    const { clock, questions, request } = asking();
    const [first, second] = [request("TAKE"), request("DROP")].map((one) =>
      one.catch((error: HoldfastError) => error.code),
    );
    clock.pass(9_999);
    questions.hear(presence("a"));
    clock.pass(9_999);
    questions.hear(presence("b"));
    expect(await Promise.all([first, second])).toEqual([
      { ...PRESENCE, holder: "a" },
      { ...PRESENCE, holder: "b" },
    ]);

    const late = request("TAKE").catch((error: HoldfastError) => error.code);
    clock.pass(10_000);
    expect(await late).toBe("waited-in-vain");
  });

  it("all fail when nothing will be answered any more, and none is sent", async () => {
    const { sent, questions, request } = asking();
    const answers = [request("TAKE"), request("DROP")].map((one) =>
      one.catch((error: HoldfastError) => error.code),
    );

    questions.fail(new HoldfastError("session-over", "over"));

    expect(await Promise.all(answers)).toEqual(["session-over", "session-over"]);
    expect(sent).toEqual(["TAKE+WHO"]);
  });

  it("never ask for an image twice, for that would be two", async () => {
    const { sent, questions } = asking();
    const made = questions.ask(
      [["CHECKPOINT_REQUEST", { stop: false, label: "", branch: false, key: "" }]],
      one("CHECKPOINTED", "CHECKPOINT_REQUEST"),
    );

    questions.repeat();

    expect(sent).toEqual(["CHECKPOINT_REQUEST"]);
    await expect(made).rejects.toMatchObject({ code: "link-ended" });
    await expect(made).rejects.toThrow("list of images");
  });
});
