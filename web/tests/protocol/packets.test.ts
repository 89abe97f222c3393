import { describe, expect, it } from "vitest";

import { readLog } from "../../src/protocol/logbook.js";
import {
  attentionOf,
  PacketReader,
  packetBytes,
  packetError,
  parentOf,
} from "../../src/protocol/packets.js";
import { joined, printable, utf8 } from "../../src/protocol/text.js";

describe("packets", () => {
  it("come out of a stream however it is cut", () => {
    const stream = joined(packetBytes({ do: "list" }), packetBytes({ name: "ä".repeat(300) }));
    for (const step of [1, 7, stream.length]) {
      const reader = new PacketReader();
      const found = [];
      for (let at = 0; at < stream.length; at += step) {
        reader.feed(stream.subarray(at, at + step));
        for (let one = reader.take(); one !== null; one = reader.take()) found.push(one);
      }
      expect(found).toEqual([{ do: "list" }, { name: "ä".repeat(300) }]);
    }
  });

  it("are refused on their length alone, and when they are no object", () => {
    const tooLong = new PacketReader();
    tooLong.feed(Uint8Array.of(0, 1, 0, 1));
    expect(() => tooLong.take()).toThrow(expect.objectContaining({ code: "frame-too-large" }));
    for (const text of ["[]", "1", "null", "{", '"x"', ""]) {
      const reader = new PacketReader();
      reader.feed(joined(Uint8Array.of(0, 0, 0, text.length), utf8(text)));
      expect(() => reader.take(), text).toThrow(
        expect.objectContaining({ code: "malformed-message" }),
      );
    }
  });

  it("are not written too large", () => {
    expect(() => packetBytes({ name: "x".repeat(70_000) })).toThrow(
      expect.objectContaining({ code: "request-too-large" }),
    );
  });

  it("tell of errors whatever is in them", () => {
    const error = packetError({
      ok: false,
      code: "not-allowed",
      text: "no\u001b[31m",
      facts: { a: 1, b: [], c: "x" },
    });

    expect([error.code, error.branch, error.message, error.facts]).toEqual([
      "not-allowed",
      "Forbidden",
      "no [31m",
      { a: 1, c: "x" },
    ]);
    expect(packetError({ facts: 3, code: {} }).code).toBe("");
  });

  it("may tell of errors that nobody knows yet", () => {
    expect(packetError({ code: "constructor", text: "?" })).toMatchObject({
      branch: "PeerError",
      retryable: false,
    });
  });
});

describe("a logbook", () => {
  it("is read in whole lines, from where the last ended", () => {
    const line = (index: number) =>
      `{"index":${index},"prev":"00","session":"s","incarnation":1,"epoch":2,"at":5,"kind":"input","actor":"a"}\n`;
    const raw = utf8(line(0) + line(1) + line(2).slice(0, 30));

    const part = readLog(raw, 100, 500);

    expect(part.entries.map((one) => [one.index, one.epoch, one.kind, { ...one.more }])).toEqual([
      [0, 2, "input", { actor: "a" }],
      [1, 2, "input", { actor: "a" }],
    ]);
    expect([part.next, part.size]).toEqual([100 + line(0).length * 2, 500]);
  });

  it("that is nonsense is shown as far as it is none", () => {
    expect(readLog(utf8("x\n{}\n[1]\nnull\n"), 0, 4).entries.map((one) => one.kind)).toEqual([
      "",
      "",
    ]);
  });
});

describe("a stranger's text", () => {
  it("is shown without what a reader would not see", () => {
    expect(printable("a\u0000b\u202ec\u200bd\r\n")).toBe("a b c d");
    expect(printable("x".repeat(2000))).toHaveLength(1024);
  });
});

describe("a call for somebody", () => {
  it("is read, with its text made harmless, or is none", () => {
    const told = { what: "message", text: "come\u202e", since_ms: 7, source: "program" };

    expect(attentionOf({ attention: told }, "attention")).toEqual({
      what: "message",
      text: "come",
      sinceMs: 7,
      source: "program",
    });
    for (const none of [null, undefined, 7, "x", [], {}, { what: "" }, { what: 7 }]) {
      expect(attentionOf({ attention: none }, "attention"), String(none)).toBeNull();
    }
  });

  it("say of a branch where it comes from", () => {
    const told = { session: "s_one\u202e", image: 2, incarnation: 1, entry: 40 };

    expect(parentOf({ parent: told }, "parent")).toEqual({ ...told, session: "s_one" });
    for (const none of [null, undefined, 7, "x", [], {}, { session: "" }]) {
      expect(parentOf({ parent: none }, "parent"), String(none)).toBeNull();
    }
  });
});
