/**
 * The primitives, by WebCrypto: in the browser, and in Node for the tests.
 *
 * Private keys are imported so that no script can read them out again; the bytes
 * they came from are overwritten. What is kept is a CryptoKey, which IndexedDB
 * stores as it is.
 */

import { derive } from "../protocol/noise.js";
import type { Aead, Identity, KeyAgreement, Suite } from "../protocol/ports.js";
import { fromHex, joined } from "../protocol/text.js";

/** What comes before the 32 bytes of a private key in PKCS #8 (RFC 8410). */
const ED25519 = fromHex("302e020100300506032b657004220420");
const X25519 = fromHex("302e020100300506032b656e04220420");
const STATIC_INFO = "holdfast channel static 1";
const SEED = 32;

/** The keys of an identity as they are kept; the private ones cannot be read. */
export interface StoredKeys {
  readonly signing: CryptoKey;
  readonly signingPublic: Uint8Array;
  readonly agreeing: CryptoKey;
  readonly agreeingPublic: Uint8Array;
}

// WebCrypto wants bytes that nobody else shares; ours never are.
const raw = (data: Uint8Array): BufferSource => data as unknown as BufferSource;
const bytes = (data: ArrayBuffer): Uint8Array => new Uint8Array(data);

export class WebCryptoSuite implements Suite {
  private readonly subtle = crypto.subtle;

  random(size: number): Uint8Array {
    return crypto.getRandomValues(new Uint8Array(size));
  }

  async sha256(data: Uint8Array): Promise<Uint8Array> {
    return bytes(await this.subtle.digest("SHA-256", raw(data)));
  }

  async hmac(key: Uint8Array, data: Uint8Array): Promise<Uint8Array> {
    const how = { name: "HMAC", hash: "SHA-256" };
    const made = await this.subtle.importKey("raw", raw(key), how, false, ["sign"]);
    return bytes(await this.subtle.sign("HMAC", made, raw(data)));
  }

  async aead(key: Uint8Array): Promise<Aead> {
    const uses: KeyUsage[] = ["encrypt", "decrypt"];
    const made = await this.subtle.importKey("raw", raw(key), "AES-GCM", false, uses);
    const how = (nonce: Uint8Array, along: Uint8Array): AesGcmParams => ({
      name: "AES-GCM",
      iv: raw(nonce),
      additionalData: raw(along),
    });
    return {
      seal: async (nonce, data, along) =>
        bytes(await this.subtle.encrypt(how(nonce, along), made, raw(data))),
      open: async (nonce, sealed, along) => {
        try {
          return bytes(await this.subtle.decrypt(how(nonce, along), made, raw(sealed)));
        } catch {
          return null;
        }
      },
    };
  }

  async verify(key: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
    const made = await this.subtle.importKey("raw", raw(key), "Ed25519", false, ["verify"]);
    return this.subtle.verify("Ed25519", made, raw(signature), raw(message));
  }

  async ephemeral(): Promise<KeyAgreement> {
    const pair = await this.subtle.generateKey("X25519", false, ["deriveBits"]);
    const { privateKey, publicKey } = pair as CryptoKeyPair;
    const shown = bytes(await this.subtle.exportKey("raw", publicKey));
    return this.agreement(privateKey, shown);
  }

  /** Use a key that is kept. */
  agreement(key: CryptoKey, shown: Uint8Array): KeyAgreement {
    return {
      public: shown,
      sharedWith: async (other) => {
        const theirs = await this.subtle.importKey("raw", raw(other), "X25519", false, []);
        const how = { name: "X25519", public: theirs };
        return bytes(await this.subtle.deriveBits(how, key, 256));
      },
    };
  }

  identity(keys: StoredKeys): Identity {
    return {
      public: keys.signingPublic,
      static: this.agreement(keys.agreeing, keys.agreeingPublic),
      sign: async (message) => bytes(await this.subtle.sign("Ed25519", keys.signing, raw(message))),
    };
  }

  /** Make the keys of a new identity; nobody has ever seen their seed. */
  async newKeys(): Promise<StoredKeys> {
    return this.keysFrom(this.random(SEED));
  }

  /** Make the keys that belong to a seed, which is overwritten. */
  async keysFrom(seed: Uint8Array): Promise<StoredKeys> {
    const static_ = await derive(this, seed, STATIC_INFO);
    try {
      const [signing, signingPublic] = await this.imported(ED25519, seed, "Ed25519", "sign");
      const [agreeing, agreeingPublic] = await this.agreeing(static_);
      return { signing, signingPublic, agreeing, agreeingPublic };
    } finally {
      seed.fill(0);
    }
  }

  /** Make an X25519 key of its 32 bytes, which are overwritten. */
  async agreeing(secret: Uint8Array): Promise<[CryptoKey, Uint8Array]> {
    try {
      return await this.imported(X25519, secret, "X25519", "deriveBits");
    } finally {
      secret.fill(0);
    }
  }

  private async imported(
    prefix: Uint8Array,
    secret: Uint8Array,
    algorithm: "Ed25519" | "X25519",
    use: "sign" | "deriveBits",
  ): Promise<[CryptoKey, Uint8Array]> {
    const written = joined(prefix, secret);
    try {
      const from = (isSeen: boolean): Promise<CryptoKey> =>
        this.subtle.importKey("pkcs8", raw(written), algorithm, isSeen, [use]);
      // The public key is only to be had from one that can be exported; that one
      // is forgotten here.
      const seen = await this.subtle.exportKey("jwk", await from(true));
      return [await from(false), base64url(seen.x ?? "")];
    } finally {
      written.fill(0);
    }
  }
}

function base64url(text: string): Uint8Array {
  const standard = text.replace(/-/g, "+").replace(/_/g, "/");
  return Uint8Array.from(atob(standard), (letter) => letter.charCodeAt(0));
}
