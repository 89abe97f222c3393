/** When a client signs, and up to which input: tests/core/client/signing_stories. */

import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, it } from "vitest";

import { KINDS } from "../../src/protocol/messages.js";
import type { Identity, Suite } from "../../src/protocol/ports.js";
import { Signing } from "../../src/protocol/signing.js";
import { HandClock } from "../hand-clock.js";
import { vectors } from "../vectors.js";

const FOLDER = "core/client/signing_stories";
const ROOT = fileURLToPath(new URL(`../../../tests/${FOLDER}`, import.meta.url));
const CLIENT = "c_aaaaaaaaaaaaaaaa";

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

function refusal(code: string) {
  const nothing = { client: "", sequence: 0, text: "", facts: {}, retryable: false };
  return { refused: KINDS.SIGN, code, next_step: "", ...nothing };
}

function story() {
  const clock = new HandClock();
  const said: number[] = [];
  const pen = { us, actor: `a_${"a".repeat(32)}` };
  const signing = new Signing(suite, clock, pen, "s_aaaaaaaaaaaaaaaa", CLIENT, (one) =>
    said.push(one.last),
  );
  const unseen = { incarnation: 1, epoch: 1, payload: new Uint8Array(1), seen: null, waits: true };
  const play = async (step: any): Promise<void> => {
    if ("sent" in step) {
      const [sequence, kind] = step.sent;
      signing.note({ client: CLIENT, sequence, kind, ...unseen });
    } else if ("booked" in step) {
      const body = { client: CLIENT, sequence: step.booked, index: 1, receipt: null };
      signing.hear({ is: "ACKNOWLEDGE", body });
    } else if ("at" in step) {
      clock.pass(step.at - clock.at);
      await settle();
      expect(said.splice(0)).toEqual(step.says);
    } else if ("linked" in step) {
      signing.begin();
      await settle();
      expect(said.splice(0)).toEqual(step.linked);
    } else if ("confirmed" in step) {
      signing.hear({ is: "SIGNED", body: { client: CLIENT, last: step.confirmed } });
    } else if ("refused" in step) {
      signing.hear({ is: "REFUSE", body: refusal(step.refused) });
    } else {
      signing.countedFrom(step.counted_from);
    }
  };
  return play;
}

it.each(readdirSync(ROOT))("signs as the story %s says", async (name) => {
  const play = story();
  for (const step of vectors(`${FOLDER}/${name}`)) await play(step);
});
