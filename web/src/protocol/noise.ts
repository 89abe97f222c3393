/**
 * The Noise handshake: two sides that know each other's keys agree on a secret.
 *
 * The Noise protocol framework (revision 34), as far as we use it: IK and XXpsk3
 * with X25519, AES-256-GCM and SHA-256; only the side that begins. The twin of
 * src/holdfast/crypto/noise.py, with the same objects and the same invariants:
 *
 * I2  Any changed, cut or lengthened handshake message is refused.
 * I3  A sealed message opens once, in its place, and nowhere else.
 * I4  A count is never used twice with a key.
 * I6  What has failed stays failed: it never opens anything again.
 *
 * The primitives answer later. A count is taken before they are asked, so that two
 * messages on their way never share one; their order is the caller's to keep.
 */

import { HoldfastError } from "./errors.js";
import { sharedSecret } from "./keys.js";
import type { Aead, KeyAgreement, Suite } from "./ports.js";
import { joined, utf8 } from "./text.js";

export const DH = 32;
export const HASH = 32;
export const TAG = 16;
export const MAX_MESSAGE = 65_535;

/**
 * The count at which a key is worn out. The specification ends at 2^64 - 1; this is
 * how far JavaScript counts, 285 million years of a message each microsecond.
 */
const MAX_COUNT = Number.MAX_SAFE_INTEGER;

const NOTHING = new Uint8Array(0);
const TWO_32 = 2 ** 32;

type Token = "e" | "s" | "ee" | "es" | "se" | "ss" | "psk";

/** Who says what in a handshake; the side that begins has the first line. */
export interface Pattern {
  readonly name: string;
  readonly messages: readonly (readonly Token[])[];
  readonly knowsResponder: boolean;
  readonly hasPsk: boolean;
}

export const IK: Pattern = {
  name: "Noise_IK_25519_AESGCM_SHA256",
  messages: [
    ["e", "es", "s", "ss"],
    ["e", "ee", "se"],
  ],
  knowsResponder: true,
  hasPsk: false,
};

export const XXPSK3: Pattern = {
  name: "Noise_XXpsk3_25519_AESGCM_SHA256",
  messages: [["e"], ["e", "ee", "s", "es"], ["s", "se", "psk"]],
  knowsResponder: false,
  hasPsk: true,
};

export function failed(why: string): HoldfastError {
  return new HoldfastError("handshake-failed", `the handshake failed: ${why}`, { why });
}

function sealBroken(count: number): HoldfastError {
  return new HoldfastError("seal-broken", `message ${count} does not open`, { count });
}

/** Two or three secrets (RFC 5869 with no info). */
export async function hkdf(
  suite: Suite,
  chainingKey: Uint8Array,
  material: Uint8Array,
  outputs: number,
): Promise<Uint8Array[]> {
  const secret = await suite.hmac(chainingKey, material);
  const made: Uint8Array[] = [];
  let last: Uint8Array = NOTHING;
  for (let number = 1; number <= outputs; number += 1) {
    last = await suite.hmac(secret, joined(last, Uint8Array.of(number)));
    made.push(last);
  }
  return made;
}

/** 32 bytes that follow from a secret and from what they are for (RFC 5869). */
export async function derive(
  suite: Suite,
  secret: Uint8Array,
  info: string,
  salt: Uint8Array = new Uint8Array(HASH),
): Promise<Uint8Array> {
  const extracted = await suite.hmac(salt, secret);
  return suite.hmac(extracted, joined(utf8(info), Uint8Array.of(1)));
}

/** A key and a count, for one direction. */
export class CipherState {
  private isBroken = false;
  /** Settled when every message that was begun before is opened, or is not. */
  private before: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly suite: Suite,
    private aead: Aead,
    private taken: number,
  ) {}

  static async of(suite: Suite, key: Uint8Array, count = 0): Promise<CipherState> {
    return new CipherState(suite, await suite.aead(key), count);
  }

  /** How many messages were begun, and the number of the next. */
  get count(): number {
    return this.taken;
  }

  async seal(data: Uint8Array, along: Uint8Array = NOTHING): Promise<Uint8Array> {
    return this.aead.seal(nonce(this.next()), data, along);
  }

  open(sealed: Uint8Array, along: Uint8Array = NOTHING): Promise<Uint8Array> {
    const opened = this.opened(sealed, along, this.before);
    this.before = opened.catch(() => undefined);
    return opened;
  }

  private async opened(
    sealed: Uint8Array,
    along: Uint8Array,
    before: Promise<unknown>,
  ): Promise<Uint8Array> {
    const number = this.next();
    const data = this.isBroken ? null : await this.aead.open(nonce(number), sealed, along);
    // The primitives may answer for a later message first: whether an earlier one
    // has failed is only known when it has its own answer (I6).
    await before;
    if (data === null || this.isBroken) {
      this.isBroken = true;
      throw sealBroken(number);
    }
    return data;
  }

  /** Take another key that the old one leads to, and no way leads back. */
  async rekey(): Promise<void> {
    const last = new Uint8Array(12).fill(0xff, 4);
    const made = await this.aead.seal(last, new Uint8Array(HASH), NOTHING);
    this.aead = await this.suite.aead(made.subarray(0, HASH));
  }

  private next(): number {
    if (this.taken >= MAX_COUNT) {
      throw new HoldfastError("channel-worn-out", "all counts of the channel are used");
    }
    this.taken += 1;
    return this.taken - 1;
  }
}

function nonce(number: number): Uint8Array {
  const raw = new Uint8Array(12);
  const view = new DataView(raw.buffer);
  view.setUint32(4, Math.floor(number / TWO_32));
  view.setUint32(8, number % TWO_32);
  return raw;
}

/** What both sides have mixed so far, and a key for the rest of it. */
class SymmetricState {
  private cipher: CipherState | null = null;

  private constructor(
    private readonly suite: Suite,
    public hash: Uint8Array,
    private chainingKey: Uint8Array,
  ) {}

  static async of(suite: Suite, name: string): Promise<SymmetricState> {
    const raw = utf8(name);
    const padded = new Uint8Array(HASH);
    if (raw.length <= HASH) padded.set(raw);
    const hash = raw.length <= HASH ? padded : await suite.sha256(raw);
    return new SymmetricState(suite, hash, hash);
  }

  async mixHash(data: Uint8Array): Promise<void> {
    this.hash = await this.suite.sha256(joined(this.hash, data));
  }

  async mixKey(material: Uint8Array): Promise<void> {
    const made = await hkdf(this.suite, this.chainingKey, material, 2);
    this.chainingKey = made[0]!;
    this.cipher = await CipherState.of(this.suite, made[1]!);
  }

  async mixKeyAndHash(material: Uint8Array): Promise<void> {
    const made = await hkdf(this.suite, this.chainingKey, material, 3);
    this.chainingKey = made[0]!;
    await this.mixHash(made[1]!);
    this.cipher = await CipherState.of(this.suite, made[2]!);
  }

  async sealAndHash(data: Uint8Array): Promise<Uint8Array> {
    const sent = this.cipher === null ? data : await this.cipher.seal(data, this.hash);
    await this.mixHash(sent);
    return sent;
  }

  async openAndHash(sent: Uint8Array): Promise<Uint8Array> {
    const data = this.cipher === null ? sent : await this.cipher.open(sent, this.hash);
    await this.mixHash(sent);
    return data;
  }

  /** What the side that began seals with, and what the other does. */
  async split(): Promise<[CipherState, CipherState]> {
    const [first, second] = await hkdf(this.suite, this.chainingKey, NOTHING, 2);
    return [await CipherState.of(this.suite, first!), await CipherState.of(this.suite, second!)];
  }
}

/** The end of a handshake. */
export interface Agreed {
  readonly sending: CipherState;
  readonly receiving: CipherState;
  readonly hash: Uint8Array;
  readonly remoteStatic: Uint8Array;
}

/** What a side brings to a handshake. */
export interface Keys {
  readonly static: KeyAgreement;
  readonly ephemeral: KeyAgreement;
  readonly remoteStatic?: Uint8Array;
  readonly psk?: Uint8Array;
}

/** The side of a handshake that begins it. */
export class HandshakeState {
  private remoteEphemeral: Uint8Array | null = null;
  private done = 0;

  private constructor(
    private readonly pattern: Pattern,
    private readonly keys: Keys,
    private readonly state: SymmetricState,
    private theirStatic: Uint8Array | null,
  ) {}

  static async of(
    suite: Suite,
    pattern: Pattern,
    prologue: Uint8Array,
    keys: Keys,
  ): Promise<HandshakeState> {
    const state = await SymmetricState.of(suite, pattern.name);
    await state.mixHash(prologue);
    const known = pattern.knowsResponder ? (keys.remoteStatic ?? null) : null;
    if (known !== null) await state.mixHash(known);
    return new HandshakeState(pattern, keys, state, known);
  }

  get remoteStatic(): Uint8Array | null {
    return this.theirStatic;
  }

  /** Our next message, with `payload` in it. */
  async write(payload: Uint8Array): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for (const token of this.turn(0)) {
      if (token === "e") {
        parts.push(this.keys.ephemeral.public);
        await this.mixEphemeral(this.keys.ephemeral.public);
      } else if (token === "s") {
        parts.push(await this.state.sealAndHash(this.keys.static.public));
      } else {
        await this.mix(token);
      }
    }
    parts.push(await this.state.sealAndHash(payload));
    return joined(...parts);
  }

  /** The payload of the other side's next message. Throws if it is another. */
  async read(message: Uint8Array): Promise<Uint8Array> {
    if (message.length > MAX_MESSAGE) throw failed("a message of it is too long");
    try {
      let rest = message;
      for (const token of this.turn(1)) {
        if (token === "e") rest = await this.hearEphemeral(rest);
        else if (token === "s") rest = await this.hearStatic(rest);
        else await this.mix(token);
      }
      return await this.state.openAndHash(rest);
    } catch (thrown) {
      this.done = FAILED;
      const isBroken = thrown instanceof HoldfastError && thrown.code === "seal-broken";
      throw isBroken ? failed("a message of it does not open") : thrown;
    }
  }

  /** What the handshake was for; it must be over. */
  async agree(): Promise<Agreed> {
    if (this.done !== this.pattern.messages.length || this.theirStatic === null) {
      throw failed("it is not over");
    }
    const [sending, receiving] = await this.state.split();
    return { sending, receiving, hash: this.state.hash, remoteStatic: this.theirStatic };
  }

  private turn(parity: number): readonly Token[] {
    const tokens = this.pattern.messages[this.done];
    if (tokens === undefined || this.done % 2 !== parity) throw failed("it is over");
    this.done += 1;
    return tokens;
  }

  private async hearEphemeral(message: Uint8Array): Promise<Uint8Array> {
    if (message.length < DH) throw failed("a message of it is too short");
    this.remoteEphemeral = message.subarray(0, DH);
    await this.mixEphemeral(this.remoteEphemeral);
    return message.subarray(DH);
  }

  private async mixEphemeral(key: Uint8Array): Promise<void> {
    await this.state.mixHash(key);
    if (this.pattern.hasPsk) await this.state.mixKey(key);
  }

  private async hearStatic(message: Uint8Array): Promise<Uint8Array> {
    const size = DH + TAG;
    if (message.length < size) throw failed("a message of it is too short");
    this.theirStatic = await this.state.openAndHash(message.subarray(0, size));
    return message.subarray(size);
  }

  private async mix(token: Exclude<Token, "e" | "s">): Promise<void> {
    if (token === "psk") {
      if (this.keys.psk === undefined) throw failed("there is no shared secret");
      await this.state.mixKeyAndHash(this.keys.psk);
      return;
    }
    // "es" is our ephemeral and their static, and so on.
    const ours = token[0] === "e" ? this.keys.ephemeral : this.keys.static;
    const theirs = token[1] === "e" ? this.remoteEphemeral : this.theirStatic;
    if (theirs === null) throw failed("a key is missing");
    await this.state.mixKey(await sharedSecret(ours, theirs));
  }
}

const FAILED = -1;
