/**
 * Public keys that must be refused, even if a library accepts them.
 *
 * With a point of low order one signature fits many messages, or a shared secret
 * is none; with a second spelling of a point, one key has two ids. Browsers differ
 * in what they refuse, so it is refused here (docs/spec/channel.md, 1.5).
 */

import { HoldfastError } from "./errors.js";
import type { KeyAgreement, Suite } from "./ports.js";

export const PUBLIC = 32;
export const SIGNATURE = 64;

const PRIME = 2n ** 255n - 19n;
const LOW_ORDER: ReadonlySet<bigint> = new Set([
  0n,
  1n,
  PRIME - 1n,
  0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n,
  0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n,
]);

/** Tell whether the owner of `key` signed `message`. Never throws. */
export async function verify(
  suite: Suite,
  key: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (key.length !== PUBLIC || signature.length !== SIGNATURE) return false;
  if (!isHonestPoint(key)) return false;
  try {
    return await suite.verify(key, message, signature);
  } catch {
    return false;
  }
}

/** The secret that two keys make. Throws `weak-key` if it would be none. */
export async function sharedSecret(ours: KeyAgreement, theirs: Uint8Array): Promise<Uint8Array> {
  const secret = await ours.sharedWith(theirs).catch(() => new Uint8Array(PUBLIC));
  if (secret.every((byte) => byte === 0)) {
    throw new HoldfastError("weak-key", "a public key keeps no secret");
  }
  return secret;
}

function isHonestPoint(key: Uint8Array): boolean {
  let y = 0n;
  for (let at = PUBLIC - 1; at >= 0; at -= 1) {
    const byte = at === PUBLIC - 1 ? key[at]! & 0x7f : key[at]!;
    y = (y << 8n) | BigInt(byte);
  }
  return y < PRIME && !LOW_ORDER.has(y);
}
