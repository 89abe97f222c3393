import { describe, expect, it } from "vitest";

import { chooseVersion, decode, encode } from "../../src/protocol/codec.js";
import { FrameReader } from "../../src/protocol/frames.js";
import type { Bodies } from "../../src/protocol/messages.js";
import { KINDS } from "../../src/protocol/messages.js";
import { fromHex, hex } from "../../src/protocol/text.js";
import { filled, vectors } from "../vectors.js";

function readAll(frame: string) {
  return new FrameReader().feed(fromHex(frame)).map(decode);
}

describe("messages", () => {
  for (const one of vectors("wire/vectors/messages.json")) {
    it(`reads and writes ${one.name}`, () => {
      const body = filled(one.fields) as Bodies[keyof Bodies];
      const [read] = readAll(one.frame);

      expect(read!.is).toBe(one.kind);
      expect({ ...read!.body }).toEqual(body);
      expect(hex(encode(one.kind, body))).toBe(one.frame);
      expect(hex(encode(read!.is, read!.body))).toBe(one.frame);
    });
  }

  it("has a vector for every kind there is", () => {
    const seen = new Set(
      vectors("wire/vectors/messages.json").map((one: { kind: string }) => one.kind),
    );

    expect(Object.keys(KINDS).filter((kind) => !seen.has(kind))).toEqual([]);
  });

  for (const one of vectors("wire/vectors/refused.json")) {
    it(`refuses ${one.name}`, () => {
      expect(() => readAll(one.frame)).toThrow(expect.objectContaining({ code: one.code }));
    });
  }

  it("refuses to write what nobody would read", () => {
    const wrong: [() => unknown, string][] = [
      [() => encode("PING", { number: -1 }), "a number below zero"],
      [() => encode("PING", { number: 1.5 }), "a fraction"],
      [() => encode("PING", { number: 2 ** 53 }), "a number that is not exact"],
      [() => encode("OUTPUT", { offset: 0, data: new Uint8Array(0) }), "nothing printed"],
      [() => encode("GOODBYE", { code: "Not a word", text: "" }), "no word"],
      [() => encode("SEIZE", { halt: "stop" as "none" }), "a word nobody knows"],
      [() => encode("GOODBYE", { code: "over", text: "x".repeat(1025) }), "a text too long"],
    ];

    for (const [write, why] of wrong) {
      expect(write, why).toThrow(expect.objectContaining({ code: "unwritable-message" }));
    }
  });

  it("counts the characters of a text as people do", () => {
    const said = { code: "over", text: "\u{1f600}".repeat(1024) };

    const [read] = readAll(hex(encode("GOODBYE", said)));

    expect(read!.body).toEqual(said);
  });

  it("survives whatever the bytes are", () => {
    let state = 1;
    const random = () => (state = (state * 48271) % 2147483647);
    const good = vectors("wire/vectors/messages.json").map((one: { frame: string }) =>
      fromHex(one.frame),
    );
    const wrong: unknown[] = [];
    for (let round = 0; round < 5_000; round += 1) {
      const raw = Uint8Array.from(good[random() % good.length] as Uint8Array);
      for (let flips = 1 + (random() % 3); flips > 0; flips -= 1) {
        raw[random() % raw.length] = random() & 0xff;
      }
      try {
        for (const frame of new FrameReader().feed(raw)) {
          const read = decode(frame);
          if (hex(encode(read.is, read.body)).slice(10) !== hex(frame.payload))
            wrong.push(hex(raw));
        }
      } catch (error) {
        if ((error as { branch?: string }).branch !== "PeerError") wrong.push(error);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe("frames", () => {
  for (const one of vectors("wire/vectors/streams.json")) {
    it(`takes ${one.name}, however it is cut`, () => {
      const stream = fromHex(one.stream);
      for (const step of [1, 3, stream.length || 1]) {
        const reader = new FrameReader();
        const read = () => {
          const found = [];
          for (let at = 0; at < stream.length; at += step) {
            found.push(...reader.feed(stream.subarray(at, at + step)));
          }
          return found.map((frame) => ({ kind: frame.kind, payload: hex(frame.payload) }));
        };

        if (one.code === undefined) {
          expect(read()).toEqual(one.frames);
          expect(reader.rest).toBe(one.rest);
        } else {
          expect(read).toThrow(expect.objectContaining({ code: one.code }));
        }
      }
    });
  }
});

describe("versions", () => {
  for (const one of vectors("wire/vectors/versions.json")) {
    it(`chooses between ${one.ours} and ${one.theirs}`, () => {
      const choose = () => chooseVersion(one.theirs, one.ours);

      if (one.code === undefined) expect(choose()).toBe(one.chosen);
      else expect(choose).toThrow(expect.objectContaining({ code: one.code }));
    });
  }
});
