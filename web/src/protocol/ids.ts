/**
 * What is this one called? The twin of src/holdfast/model/ids.py.
 */

import type { Suite } from "./ports.js";
import { base32 } from "./text.js";
import { WORDS } from "./words.js";

const DIGEST = 20;
const ENTROPY = 10;
const SHORT = 10;
const SPOKEN = 8;

async function keyLetters(suite: Suite, key: Uint8Array): Promise<string> {
  return base32((await suite.sha256(key)).subarray(0, DIGEST));
}

export async function hostId(suite: Suite, key: Uint8Array): Promise<string> {
  return `h_${await keyLetters(suite, key)}`;
}

export async function actorId(suite: Suite, key: Uint8Array): Promise<string> {
  return `a_${await keyLetters(suite, key)}`;
}

export function clientId(suite: Suite): string {
  return `c_${base32(suite.random(ENTROPY))}`;
}

/** Four groups of letters that people compare. */
export async function shortFingerprint(suite: Suite, key: Uint8Array): Promise<string> {
  const letters = base32((await suite.sha256(key)).subarray(0, SHORT));
  return (letters.match(/.{4}/g) ?? []).join("-");
}

/** Eight words that people say to each other; the twin of src/holdfast/crypto/fingerprints.py. */
export async function spokenFingerprint(suite: Suite, key: Uint8Array): Promise<string> {
  const digest = (await suite.sha256(key)).subarray(0, SPOKEN);
  return Array.from(digest, (byte) => WORDS[byte]).join(" ");
}
