import { describe, expect, it } from "vitest";

import { Attachment } from "../../src/protocol/attachment.js";
import { HoldfastError } from "../../src/protocol/errors.js";
import type { Submit } from "../../src/protocol/messages.js";
import type { Said } from "../../src/protocol/session-wire.js";
import { Typing } from "../../src/protocol/typing.js";
import { HandClock } from "../hand-clock.js";

const CLIENT = "c_aaaaaaaaaaaaaaaa";
const code = (error: HoldfastError) => error.code;

function typing() {
  const clock = new HandClock();
  const attachment = new Attachment("s_aaaaaaaaaaaaaaaa", CLIENT, "operate", "");
  attachment.incarnation = 1;
  const sent: Submit[] = [];
  const say = (...messages: readonly Said[]) => {
    for (const [, body] of messages) sent.push(body as Submit);
  };
  const made = new Typing(clock, attachment, say);
  const answer = (sequence: number, refused?: string) => {
    const facts = {};
    const settled = refused
      ? attachment.answered({
          is: "REFUSE",
          body: {
            refused: 0x20,
            client: CLIENT,
            sequence,
            code: refused,
            text: "",
            facts,
            retryable: false,
            next_step: "",
          },
        })
      : attachment.answered({
          is: "ACKNOWLEDGE",
          body: { client: CLIENT, sequence, index: 1, receipt: null },
        });
    if (settled !== null) made.settled(settled);
    made.retry();
  };
  return { clock, attachment, typing: made, sent, answer };
}

/** Let what was promised be heard of. */
const settle = () => new Promise((fulfil) => setTimeout(fulfil, 0));

describe("what is typed", () => {
  it("waits until somebody is attached, and goes in order", async () => {
    const { typing: one, sent, answer } = typing();
    const typed = Promise.all([one.type("a"), one.type("b")]);
    expect(sent).toEqual([]);

    one.begin();
    expect(sent.map((input) => input.sequence)).toEqual([1, 2]);
    answer(1);
    answer(2);
    await typed;
    expect(one.count).toBe(0);
  });

  it("goes again under its id on a new link (I1)", () => {
    const { typing: one, sent, answer } = typing();
    one.begin();
    void one.type("a");
    void one.type("b");
    answer(1);

    one.begin();

    expect(sent.map((input) => input.sequence)).toEqual([1, 2, 2]);
  });

  it("is not more on its way than is good", () => {
    const { typing: one, sent, answer } = typing();
    one.begin();
    for (let count = 0; count < 100; count += 1) void one.type("x");

    expect(sent).toHaveLength(64);
    expect(one.count).toBe(100);
    answer(1);
    expect(sent).toHaveLength(65);
  });

  it("for which there is no room goes again, before anything newer", () => {
    const { clock, typing: one, sent, answer } = typing();
    one.begin();
    void one.type("a");
    answer(1, "busy");
    void one.type("b");
    expect(sent).toHaveLength(1);

    clock.pass(100);
    expect(sent.slice(1).map((input) => input.sequence)).toEqual([1, 2]);
  });

  it("and was not sent is dropped with the turn (I2)", async () => {
    const { typing: one, sent } = typing();
    one.begin();
    const typed = Array.from({ length: 66 }, () => one.type("x").catch(code));
    one.lostTurn();

    expect(await typed[65]).toBe("turn-moved");
    expect([sent.length, one.count]).toEqual([64, 64]);
  });

  it("fails for what the end of a session makes of it, or for what nobody knows", async () => {
    for (const [isOver, wanted] of [
      [true, "session-over"],
      [false, "outcome-unknown"],
    ] as const) {
      const { typing: one } = typing();
      one.begin();
      const typed = one.type("x").catch(code);

      one.fail(new HoldfastError("session-over", ""), isOver);
      expect(await typed).toBe(wanted);
    }
  });
});

describe("what is pasted", () => {
  it("goes piece by piece, and what is typed meanwhile follows it", async () => {
    const { typing: one, sent, answer } = typing();
    one.begin();
    const pasted = one.type("x".repeat(65_536 * 2 + 1));
    const typed = one.type("y");
    for (let sequence = 1; sequence <= 4; sequence += 1) {
      await settle();
      expect(sent).toHaveLength(sequence);
      answer(sequence);
    }

    await Promise.all([pasted, typed]);
    expect(sent.map((input) => input.payload.length)).toEqual([65_536, 65_536, 1, 1]);
  });

  it("ends with the first piece that is refused (I3)", async () => {
    const { typing: one, sent, answer } = typing();
    one.begin();
    const pasted = one.type("x".repeat(200_000)).catch(code);
    await settle();
    answer(1, "line-too-long");

    expect(await pasted).toBe("line-too-long");
    await settle();
    expect(sent).toHaveLength(1);
  });

  it("ends with the turn, even if it is ours again (I2)", async () => {
    const { typing: one, sent, answer } = typing();
    one.begin();
    const pasted = one.type("x".repeat(200_000)).catch(code);
    await settle();
    one.lostTurn();
    answer(1);

    expect(await pasted).toBe("turn-moved");
    expect(sent).toHaveLength(1);
  });
});
