/**
 * Opens an encrypted channel between an operator and a host.
 *
 * The operator's side of docs/spec/channel.md, sections 3 and 4: `Opening` where the
 * host's keys are known, `Joining` with an invitation. The twin of src/holdfast/
 * crypto/handshake.py; both agree on tests/crypto/vectors/channel.json.
 *
 * I1  It ends with the identity that the host has proven, or it throws.
 * I2  A host that is not the expected one is told nothing about us but, in an
 *     attach, a message that only the expected host can read.
 */

import { HoldfastError } from "./errors.js";
import { hostId } from "./ids.js";
import { PUBLIC, SIGNATURE, verify } from "./keys.js";
import type { Agreed } from "./noise.js";
import { derive, failed, HandshakeState, IK, XXPSK3 } from "./noise.js";
import type { Identity, KeyAgreement, Suite } from "./ports.js";
import { Purpose, prologue, RecordKind } from "./records.js";
import { Inbound, Outbound } from "./sealing.js";
import { hex, joined, same, utf8 } from "./text.js";

/** Zeros in the first message of a join, so that its answer is never longer. */
const FILLING = 128;
const STATEMENT = "holdfast channel identity 1\n";
const PSK = "holdfast invite psk 1";

/** A channel that stands, as we have it. */
export interface Established {
  readonly outbound: Outbound;
  readonly inbound: Inbound;
  /** The host's X25519 public key, to be kept for the next attach. */
  readonly peerStatic: Uint8Array;
  /** The same on both sides, and on no other channel. */
  readonly binding: Uint8Array;
}

/** A handshake of three messages, of which we have the first and the last. */
export interface Handshake {
  first(): Promise<Uint8Array>;
  last(reply: Uint8Array): Promise<readonly [Uint8Array, Established]>;
}

export class Opening implements Handshake {
  private constructor(
    private readonly suite: Suite,
    private readonly us: Identity,
    private readonly host: Uint8Array,
    private readonly spoken: Uint8Array,
    private readonly noise: HandshakeState,
  ) {}

  static async of(
    suite: Suite,
    us: Identity,
    host: { readonly public: Uint8Array; readonly static: Uint8Array },
    ephemeral: KeyAgreement,
  ): Promise<Opening> {
    const spoken = prologue(await hostId(suite, host.public));
    const keys = { static: us.static, ephemeral, remoteStatic: host.static };
    const noise = await HandshakeState.of(suite, IK, spoken, keys);
    return new Opening(suite, us, host.public, spoken, noise);
  }

  async first(): Promise<Uint8Array> {
    const said = await statement(this.suite, this.us, "operator", this.spoken);
    return joined(Uint8Array.of(Purpose.attach), await this.noise.write(said));
  }

  async last(reply: Uint8Array): Promise<readonly [Uint8Array, Established]> {
    const said = await this.noise.read(reply);
    const agreed = await this.noise.agree();
    await checkHost(this.suite, said, this.spoken, agreed.remoteStatic, this.host);
    const made = established(agreed);
    return [await made.outbound.seal(RecordKind.confirm), made];
  }
}

/** What an invitation says that a handshake needs. */
export interface Invite {
  readonly id: Uint8Array;
  readonly secret: Uint8Array;
}

export class Joining implements Handshake {
  private constructor(
    private readonly suite: Suite,
    private readonly us: Identity,
    private readonly host: Uint8Array,
    private readonly inviteId: Uint8Array,
    private readonly spoken: Uint8Array,
    private readonly noise: HandshakeState,
  ) {}

  static async of(
    suite: Suite,
    us: Identity,
    host: Uint8Array,
    invite: Invite,
    ephemeral: KeyAgreement,
  ): Promise<Joining> {
    const spoken = prologue(await hostId(suite, host), invite.id);
    const psk = await invitePsk(suite, invite);
    const keys = { static: us.static, ephemeral, psk };
    const noise = await HandshakeState.of(suite, XXPSK3, spoken, keys);
    return new Joining(suite, us, host, invite.id, spoken, noise);
  }

  async first(): Promise<Uint8Array> {
    const message = await this.noise.write(new Uint8Array(FILLING));
    return joined(Uint8Array.of(Purpose.join), this.inviteId, message);
  }

  async last(reply: Uint8Array): Promise<readonly [Uint8Array, Established]> {
    const said = await this.noise.read(reply);
    const static_ = this.noise.remoteStatic ?? new Uint8Array(0);
    // Before we say who we are, and before the secret is used.
    await checkHost(this.suite, said, this.spoken, static_, this.host);
    const ours = await statement(this.suite, this.us, "operator", this.spoken);
    const message = await this.noise.write(ours);
    return [message, established(await this.noise.agree())];
  }
}

export function invitePsk(suite: Suite, invite: Invite): Promise<Uint8Array> {
  return derive(suite, invite.secret, PSK, invite.id);
}

/** Say who we are, for one role at one host and for one purpose. */
export async function statement(
  suite: Suite,
  us: Identity,
  role: "operator" | "host",
  spoken: Uint8Array,
): Promise<Uint8Array> {
  const signed = await signedBytes(suite, role, spoken, us.static.public);
  return joined(us.public, await us.sign(signed));
}

async function signedBytes(
  suite: Suite,
  role: string,
  spoken: Uint8Array,
  static_: Uint8Array,
): Promise<Uint8Array> {
  const digest = await suite.sha256(spoken);
  return joined(utf8(`${STATEMENT}${role}\n`), digest, static_);
}

async function checkHost(
  suite: Suite,
  said: Uint8Array,
  spoken: Uint8Array,
  static_: Uint8Array,
  wanted: Uint8Array,
): Promise<void> {
  if (said.length !== PUBLIC + SIGNATURE) {
    throw failed("it says nothing of who is there");
  }
  const found = said.subarray(0, PUBLIC);
  const signed = await signedBytes(suite, "host", spoken, static_);
  if (!(await verify(suite, found, signed, said.subarray(PUBLIC)))) {
    throw wrongIdentity(found, "its statement is not signed by that key");
  }
  if (!same(found, wanted)) throw wrongIdentity(wanted, `it is ${hex(found)}`);
}

function wrongIdentity(key: Uint8Array, why: string): HoldfastError {
  const who = hex(key);
  return new HoldfastError("wrong-identity", `${who}: ${why}`, { who, why });
}

function established(agreed: Agreed): Established {
  return {
    outbound: new Outbound(agreed.sending),
    inbound: new Inbound(agreed.receiving),
    peerStatic: agreed.remoteStatic,
    binding: agreed.hash,
  };
}
