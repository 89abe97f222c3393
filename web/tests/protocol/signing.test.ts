import { describe, expect, it } from "vitest";

import type { Message } from "../../src/protocol/codec.js";
import type { Sign, Submit } from "../../src/protocol/messages.js";
import type { Identity, Suite } from "../../src/protocol/ports.js";
import { Signing } from "../../src/protocol/signing.js";
import { HandClock } from "../hand-clock.js";

const CLIENT = "c_aaaaaaaaaaaaaaaa";
const SESSION = "s_aaaaaaaaaaaaaaaa";

// What is signed is for input-chain.test.ts; here it matters when. So nothing takes time.
const digest = async () => new Uint8Array(32);
const suite = {
  random: () => new Uint8Array(32),
  sha256: digest,
  hmac: digest,
} as unknown as Suite;
const us = {
  public: new Uint8Array(32),
  sign: async () => new Uint8Array(64),
} as unknown as Identity;

/** Let what was promised be heard of. */
const settle = () => new Promise((fulfil) => setTimeout(fulfil, 0));

function signing() {
  const clock = new HandClock();
  const sent: Sign[] = [];
  const pen = { us, actor: `a_${"a".repeat(32)}` };
  const say = (statement: Sign) => void sent.push(statement);
  const made = new Signing(suite, clock, pen, SESSION, CLIENT, say);
  const unseen = { incarnation: 1, epoch: 1, payload: new Uint8Array(1), seen: null, waits: true };
  const send = (sequence: number, kind: Submit["kind"] = "keys") =>
    made.note({ client: CLIENT, sequence, kind, ...unseen });
  const hear = (message: Message) => made.hear(message);
  const book = (sequence: number) =>
    hear({ is: "ACKNOWLEDGE", body: { client: CLIENT, sequence, index: 1, receipt: null } });
  const confirm = (last: number) => hear({ is: "SIGNED", body: { client: CLIENT, last } });
  const refuse = (code: string) =>
    hear({
      is: "REFUSE",
      body: {
        refused: 0x26,
        client: "",
        sequence: 0,
        code,
        text: "",
        facts: {},
        retryable: false,
        next_step: "",
      },
    });
  const pass = async (ms: number) => {
    clock.pass(ms);
    await settle();
  };
  return { signing: made, sent, send, book, confirm, refuse, pass };
}

describe("what is sent", () => {
  it("is signed a second after it is in the book, if it is keys", async () => {
    const { sent, send, book, pass } = signing();
    send(1);
    send(2);
    send(3);
    book(2);
    await pass(999);
    expect(sent).toEqual([]);

    await pass(1);

    expect(sent.map((one) => [one.last, one.steps.length])).toEqual([[2, 96]]);
  });

  it("is signed at once, if it is a command", async () => {
    const { sent, send, book, pass } = signing();
    send(1, "command");
    book(1);

    await pass(0);

    expect(sent.map((one) => one.last)).toEqual([1]);
  });

  it("is signed once, and the next when the first is confirmed", async () => {
    const { sent, send, book, confirm, pass } = signing();
    for (const sequence of [1, 2]) {
      send(sequence, "command");
      book(sequence);
      await pass(2_000);
    }
    expect(sent.map((one) => one.last)).toEqual([1]);

    confirm(1);
    await pass(2_000);

    expect(sent.map((one) => one.last)).toEqual([1, 2]);
  });

  it("is handed over unchanged on each link until it is confirmed (I2)", async () => {
    const { signing: one, sent, send, book, confirm, pass } = signing();
    send(1, "command");
    book(1);
    await pass(0);
    one.begin();
    await pass(0);
    confirm(1);
    one.begin();
    await pass(0);

    expect(sent.length).toBe(2);
    expect(sent[0]).toEqual(sent[1]);
  });

  it("is signed later if that came too often", async () => {
    const { sent, send, book, refuse, pass } = signing();
    send(1, "command");
    book(1);
    await pass(0);
    refuse("asked-too-often");
    await pass(1_000);

    expect(sent.map((one) => one.last)).toEqual([1, 1]);
  });

  it("is not signed after a refusal, nor by a holder that has forgotten us (I3)", async () => {
    for (const spoil of ["refused", "forgotten", "hangs up"]) {
      const { signing: one, sent, send, book, refuse, pass } = signing();
      send(1, "command");
      book(1);
      await pass(0);
      if (spoil === "refused") refuse("statement-refused");
      else if (spoil === "forgotten") one.countedFrom(1);
      else for (let at = 0; at < 4; at += 1) one.begin();
      await settle();
      const before = sent.length;
      send(2, "command");
      book(2);
      await pass(9_000);

      expect(sent.length).toBe(before);
      expect(one.rest()).toBe(null);
    }
  });

  it("is signed under the count that the holder has (I1)", async () => {
    const { signing: one, sent, send, book, pass } = signing();
    send(1, "command");
    send(2, "command");
    one.countedFrom(1);
    send(1, "command");
    book(1);
    await pass(0);

    expect(sent.map(({ last }) => last)).toEqual([1]);
  });

  it("is signed at the last moment, when we leave", async () => {
    const { signing: one, send, book } = signing();
    send(1);
    expect(one.rest()).toBe(null);
    book(1);

    expect((await one.rest())?.last).toBe(1);
  });
});
