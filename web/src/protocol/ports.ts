/**
 * What the protocol needs from the world, as interfaces.
 *
 * src/platform has the real ones. Keys are handles: nothing here can read a
 * private key.
 */

/** An X25519 key that can be used and not be seen. */
export interface KeyAgreement {
  readonly public: Uint8Array;
  /** The secret that this key and another's make, as the primitive gives it. */
  sharedWith(other: Uint8Array): Promise<Uint8Array>;
}

/** One side's keys. */
export interface Identity {
  /** The Ed25519 public key. */
  readonly public: Uint8Array;
  readonly static: KeyAgreement;
  sign(message: Uint8Array): Promise<Uint8Array>;
}

/** AES-256-GCM under one key. */
export interface Aead {
  seal(nonce: Uint8Array, data: Uint8Array, along: Uint8Array): Promise<Uint8Array>;
  /** Null if it does not open. */
  open(nonce: Uint8Array, sealed: Uint8Array, along: Uint8Array): Promise<Uint8Array | null>;
}

/** The primitives, all of the browser's own making. */
export interface Suite {
  random(size: number): Uint8Array;
  sha256(data: Uint8Array): Promise<Uint8Array>;
  hmac(key: Uint8Array, data: Uint8Array): Promise<Uint8Array>;
  aead(key: Uint8Array): Promise<Aead>;
  /** Ed25519, as the primitive says it; keys.ts refuses bad keys before. */
  verify(key: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean>;
  /** A fresh X25519 key, for one handshake. */
  ephemeral(): Promise<KeyAgreement>;
}

/** A link that keeps messages apart and in order: a WebSocket. */
export interface Carrier {
  /** Bytes that have come and that nobody has received yet. */
  readonly unread: number;
  /** Send one message. Throws `link-ended` once the link is gone. */
  send(message: Uint8Array): void;
  /** The next message; refused with `link-ended`, whose fact `why` is the reason. */
  receive(): Promise<Uint8Array>;
  /** End it, saying why by a code. Safe to call twice. */
  close(code?: string): void;
}

/** Opens a WebSocket; refused with `relay-unreachable`. */
export type Dial = (url: string) => Promise<Carrier>;

export interface Clock {
  /** Milliseconds of a clock that is never set. */
  now(): number;
  /** Call `done` after so long; what is returned forgets about it. */
  after(ms: number, done: () => void): () => void;
}

/** All of it, as dialling needs it. */
export interface World {
  readonly suite: Suite;
  readonly dial: Dial;
  readonly clock: Clock;
}
