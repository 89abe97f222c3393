import { describe, expect, it } from "vitest";

import { Attachment } from "../../src/protocol/attachment.js";
import type { Message } from "../../src/protocol/codec.js";
import type { Attached, Refuse } from "../../src/protocol/messages.js";
import { shownUtf8, utf8 } from "../../src/protocol/text.js";

const CLIENT = "c_aaaaaaaaaaaaaaaa";
const US = "a_".padEnd(34, "b");
const SIZE = { columns: 80, rows: 24 };

function attached(changes: Partial<Attached> = {}): Message {
  const operators = [{ actor: US, kind: "human" as const, name: "anna", client: CLIENT }];
  const body = {
    session: "s_aaaaaaaaaaaaaaaa",
    name: "web",
    incarnation: 1,
    epoch: 3,
    holder: "",
    start: 0,
    end: 100,
    state: "running",
    size: SIZE,
    operators,
    ...changes,
  };
  return { is: "ATTACHED", body };
}

function fresh(): Attachment {
  const made = new Attachment("s_aaaaaaaaaaaaaaaa", CLIENT, "operate", US);
  made.heard(attached());
  return made;
}

function output(offset: number, text: string): Message {
  return { is: "OUTPUT", body: { offset, data: utf8(text) } };
}

function keyframe(offset: number, more: boolean, text = "*"): Message {
  return { is: "KEYFRAME", body: { offset, size: SIZE, more, data: utf8(text) } };
}

function refuse(sequence: number, code: string, facts = {}): Message {
  const body: Refuse = {
    refused: 0x20,
    client: CLIENT,
    sequence,
    code,
    text: "no",
    facts,
    retryable: true,
    next_step: "",
  };
  return { is: "REFUSE", body };
}

function told(attachment: Attachment, ...messages: Message[]): string[] {
  return messages
    .flatMap((message) => attachment.heard(message))
    .map((shown) => {
      if (shown.is === "gap") return `gap ${shown.start}-${shown.end}`;
      const mark = shown.is === "painted" ? (shown.isFirst ? "first " : "part ") : "";
      return `${mark}${shown.offset} ${shownUtf8(shown.data)}`;
    });
}

describe("the stream", () => {
  it("is handed out once and in order, however often it is sent (I1)", () => {
    const seen = told(
      fresh(),
      output(0, "abc"),
      output(3, "def"),
      output(0, "abc"),
      output(2, "cdefgh"),
    );

    expect(seen).toEqual(["first 0 ", "0 abc", "3 def", "6 gh"]);
  });

  it("begins on an empty screen, with or without a picture", () => {
    expect(
      told(fresh(), keyframe(50, true, "a"), keyframe(50, false, "b"), output(50, "c")),
    ).toEqual(["first 50 a", "part 50 b", "50 c"]);
    expect(told(fresh(), output(50, "c"))).toEqual(["first 50 ", "50 c"]);
  });

  it("goes on after the last byte on a new link, and clears nothing", () => {
    const one = fresh();
    told(one, output(0, "abc"));

    expect(one.attach(null)).toMatchObject({ after: 3, incarnation: 1, keyframe: true });
    expect(told(one, attached(), output(3, "d"))).toEqual(["3 d"]);
  });

  it("begins anew in another life of the session", () => {
    const one = fresh();
    told(one, output(0, "abc"));

    expect(told(one, attached({ incarnation: 2 }), output(0, "x"))).toEqual(["first 0 ", "0 x"]);
  });

  it("paints half a picture again", () => {
    const one = fresh();
    told(one, keyframe(50, true, "a"));

    expect(one.attach(null).after).toBeNull();
    expect(told(one, attached(), keyframe(60, false, "b"))).toEqual(["first 60 b"]);
  });

  it("says what was skipped by whoever was too slow", () => {
    const one = fresh();
    told(one, output(0, "abc"));
    one.skip();
    one.skip();

    expect(one.attach(null).after).toBeNull();
    expect(told(one, attached(), keyframe(900, false, "b"))).toEqual(["gap 3-900", "first 900 b"]);
  });

  it("says what is gone", () => {
    const one = fresh();
    told(one, output(0, "abc"));

    const seen = told(
      one,
      attached(),
      { is: "GAP", body: { start: 3, end: 70 } },
      keyframe(80, false),
      output(80, "x"),
    );
    expect(seen).toEqual(["gap 3-70", "first 80 *", "80 x"]);
  });
});

describe("an input", () => {
  it("keeps its id and bytes until it is answered (I2, I3)", () => {
    const one = fresh();
    const made = [one.submit("keys", utf8("a")), one.submit("keys", utf8("b"))];
    one.heard(attached({ epoch: 9 }));

    expect(one.open).toEqual(made);
    expect(made.map((input) => [input.sequence, input.epoch])).toEqual([
      [1, 3],
      [2, 3],
    ]);
    expect(
      one.answered({
        is: "ACKNOWLEDGE",
        body: { client: CLIENT, sequence: 1, index: 5, receipt: null },
      }),
    ).toEqual({ sequence: 1, error: null });
    expect(one.open).toEqual([made[1]]);
    expect(one.submit("keys", utf8("c")).sequence).toBe(3);
  });

  it("is settled once", () => {
    const one = fresh();
    one.submit("keys", utf8("a"));
    const acknowledged: Message = {
      is: "ACKNOWLEDGE",
      body: { client: CLIENT, sequence: 1, index: 5, receipt: null },
    };

    expect(one.answered(acknowledged)).not.toBeNull();
    expect(one.answered(acknowledged)).toBeNull();
  });

  it("of somebody else is none of ours", () => {
    const one = fresh();
    one.submit("keys", utf8("a"));
    const other = { client: "c_bbbbbbbbbbbbbbbb", sequence: 1, index: 5, receipt: null };

    expect(one.answered({ is: "ACKNOWLEDGE", body: other })).toBeNull();
    expect(one.open).toHaveLength(1);
  });

  it("that was refused for good is settled with why", () => {
    const one = fresh();
    one.submit("keys", utf8("a"));

    expect(one.answered(refuse(1, "stale-epoch"))?.error).toMatchObject({
      code: "stale-epoch",
      retryable: true,
    });
    expect(one.open).toEqual([]);
  });

  it("for which there was no room stays, and goes again", () => {
    const one = fresh();
    one.submit("keys", utf8("a"));

    expect(one.answered(refuse(1, "busy"))).toBeNull();
    expect([one.isStalled, one.open.length]).toEqual([true, 1]);
    one.answered({
      is: "ACKNOWLEDGE",
      body: { client: CLIENT, sequence: 1, index: 5, receipt: null },
    });
    expect(one.isStalled).toBe(false);
  });

  it("that the holder does not wait for makes us count from where it does", () => {
    const one = fresh();
    for (const key of "abc") one.submit("keys", utf8(key));
    for (const sequence of [1, 2]) one.answered(refuse(sequence, "stale-epoch"));

    const answer = one.answered(refuse(3, "input-gap", { expected: 1 }));

    expect(answer?.error?.code).toBe("input-gap");
    expect(one.submit("keys", utf8("d")).sequence).toBe(1);
  });

  it.each([
    ["cut", "input-cut"],
    ["dropped", "turn-moved"],
    ["unknown", "outcome-unknown"],
  ] as const)("that was %s is reported as %s", (outcome, code) => {
    const one = fresh();
    one.submit("keys", utf8("abcdef"));
    const body = { client: CLIENT, sequence: 1, outcome, index: 4, written: 2 };

    expect(one.answered({ is: "REPORT", body })?.error?.code).toBe(code);
  });
});

describe("how things stand", () => {
  it("follows what is told", () => {
    const one = fresh();
    const other = "a_".padEnd(34, "c");
    const passed = {
      former: "",
      holder: other,
      epoch: 4,
      reason: "taken",
      dropped_inputs: 0,
      dropped_bytes: 0,
    };

    expect(one.mayWrite).toBe(true);
    one.heard({ is: "TURN_PASSED", body: passed });
    expect([one.mayWrite, one.holder, one.epoch]).toEqual([false, other, 4]);
    one.heard({ is: "STATE", body: { state: "frozen", incarnation: 1 } });
    expect(one.state).toBe("frozen");
    one.heard({ is: "EXITED", body: { status: 0 } });
    expect(one.state).toBe("exited");
  });

  it("lets nobody write who only watches", () => {
    const one = new Attachment("s_aaaaaaaaaaaaaaaa", CLIENT, "observe", US);
    one.heard(attached());

    expect(one.mayWrite).toBe(false);
  });
});
