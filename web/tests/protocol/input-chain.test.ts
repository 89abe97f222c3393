import { describe, expect, it } from "vitest";

import { WebCryptoSuite } from "../../src/platform/webcrypto.js";
import { InputChain, MAX_SIGNED } from "../../src/protocol/input-chain.js";
import type { Sign, Submit } from "../../src/protocol/messages.js";
import { fromHex, hex } from "../../src/protocol/text.js";
import { vectors } from "../vectors.js";

const suite = new WebCryptoSuite();
const known = vectors("core/vectors/inputs.json");
const us = suite.keysFrom(fromHex(known.seed)).then((keys) => suite.identity(keys));

const chain = () => new InputChain(suite, known.session, known.client, fromHex(known.secret));

function input(sequence: number, payload = "00"): Submit {
  const { kind, epoch } = known.inputs[0];
  const made = { client: known.client, sequence, kind, incarnation: 1, epoch };
  return { ...made, payload: fromHex(payload), seen: null, waits: true };
}

async function signed(ours: InputChain, upTo: number): Promise<Sign> {
  const made = ours.sign(await us, known.actor, upTo);
  if (made === null) throw new Error("there is nothing to sign");
  return made;
}

describe("a chain of inputs", () => {
  it("makes the statements that every implementation agrees on", async () => {
    const ours = chain();
    known.inputs.forEach((one: any, at: number) => {
      ours.note({ ...input(at + 1, one.payload), kind: one.kind, epoch: one.epoch });
    });

    for (const one of known.statements) {
      const made = await signed(ours, one.last);
      expect(made.last).toBe(one.last);
      expect(hex(made.steps)).toBe(one.steps);
      expect(hex(made.signature)).toBe(one.signature);
      expect(hex(made.key)).toBe(known.key);
      expect(made.rotations.length).toBe(0);
    }
    expect(ours.sign(await us, known.actor, 99)).toBe(null);
  });

  it("knows nothing of what was forgotten before it was signed", async () => {
    const [one, other] = [chain(), chain()];
    for (const [sequence, payload] of [
      [1, "01"],
      [2, "02"],
    ] as const) {
      one.note(input(sequence, payload));
      other.note(input(sequence, payload));
    }
    one.forgetFrom(2);
    one.note(input(2, "ff"));
    one.forgetFrom(2);
    one.note(input(2, "02"));

    expect(await signed(one, 2)).toEqual(await signed(other, 2));
  });

  it("puts no more into a statement than may be in one", async () => {
    const ours = chain();
    for (let at = 1; at <= MAX_SIGNED + 2; at += 1) ours.note(input(at));

    expect((await signed(ours, ours.last)).last).toBe(MAX_SIGNED);
    expect((await signed(ours, ours.last)).last).toBe(MAX_SIGNED + 2);
  });
});
