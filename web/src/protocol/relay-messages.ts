/**
 * Finds a host through a relay, from the operator's side.
 *
 * The operator's side of docs/spec/relay.md. What is returned is read by the relay
 * as little as it is trusted by us: a sealed channel goes on top.
 */

import { asError, HoldfastError, malformed, noCommonVersion, unexpected } from "./errors.js";
import { RELAY_MESSAGES } from "./messages.js";
import type { Carrier, Identity, World } from "./ports.js";
import type { Tagged } from "./shapes.js";
import { Misfit, readTagged, writeTagged } from "./shapes.js";
import { joined, utf8 } from "./text.js";

const VERSION = 1;
const MAX_MESSAGE = 65_535;
const PROOF = "holdfast relay proof 1";

/** Milliseconds for a relay to greet us. */
const GREETING_MS = 10_000;

/** Milliseconds until the other end is there: the relay gives it ten seconds. */
const JOIN_MS = 15_000;

export type RelayMessage = Tagged<typeof RELAY_MESSAGES>;

export function encodeRelayMessage(message: RelayMessage): Uint8Array {
  return writeTagged(RELAY_MESSAGES, message);
}

export function decodeRelayMessage(raw: Uint8Array): RelayMessage {
  if (raw.length > MAX_MESSAGE) throw malformed("relay message", `of ${raw.length} bytes`);
  try {
    return readTagged(RELAY_MESSAGES, raw);
  } catch (thrown) {
    if (!(thrown instanceof Misfit)) throw thrown;
    throw malformed("relay message", thrown.message);
  }
}

/** The bytes that a peer signs to prove its key on one link. */
export function proofBytes(
  role: "host" | "meet" | "operator",
  relay: string,
  nonce: Uint8Array,
  ...wishes: readonly Uint8Array[]
): Uint8Array {
  const fields = [utf8(PROOF), utf8(role), utf8(relay), nonce, ...wishes];
  const parts = fields.flatMap((field) => [
    Uint8Array.of(field.length >> 8, field.length & 0xff),
    field,
  ]);
  return joined(...parts);
}

/** Where a relay is dialled, and what it is called there. */
export interface RelayAddress {
  readonly name: string;
  readonly socket: string;
}

const URL_FORM = /^(https?):\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?\/?$/;
const MAX_URL = 255;

/** Read a relay's URL; null if no relay is dialled by it (channel.md, 8.3). */
export function relayAddress(url: string): RelayAddress | null {
  const [, scheme, host, port] = (url.length <= MAX_URL ? URL_FORM.exec(url) : null) ?? [];
  if (scheme === undefined || host === undefined) return null;
  const number = port === undefined ? null : Number(port);
  if (number !== null && (number < 1 || number > 65_535)) return null;
  if (scheme === "http" && !isLoopback(host)) return null;
  const usual = scheme === "https" ? 443 : 80;
  const name = number === null || number === usual ? host : `${host}:${number}`;
  return { name, socket: `${scheme === "https" ? "wss" : "ws"}://${name}/v1/operator` };
}

function isLoopback(host: string): boolean {
  if (host === "localhost" || host === "[::1]") return true;
  const parts = host.split(".");
  const isNumber = (part: string): boolean =>
    /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) < 256;
  return parts.length === 4 && parts.every(isNumber) && parts[0] === "127";
}

/** Whom an operator wants, and the id of its invitation if it has one. */
export interface Wish {
  readonly target: string;
  readonly inviteId?: Uint8Array;
}

/** Return a link to a host, by its id or by the id of a session that it has. */
export async function reach(
  world: World,
  relayUrl: string,
  us: Identity,
  wish: Wish,
): Promise<Carrier> {
  const address = relayAddress(relayUrl);
  if (address === null) {
    throw new HoldfastError("malformed-invite", "a relay's address is none", { why: "address" });
  }
  const link = await world.dial(address.socket);
  try {
    const nonce = await greeted(world, link, address.name);
    const invite = wish.inviteId ?? new Uint8Array(0);
    const signed = proofBytes("operator", address.name, nonce, utf8(wish.target), invite);
    const signature = await us.sign(signed);
    const body = { key: us.public, target: wish.target, invite, signature };
    link.send(encodeRelayMessage({ is: "reach", body }));
    const answer = await told(world, link, JOIN_MS, address.name);
    if (answer.is !== "joined") throw unexpected(answer.is, "waiting to be joined");
    return link;
  } catch (thrown) {
    const error = asError(thrown);
    link.close(error.code);
    throw error;
  }
}

async function greeted(world: World, link: Carrier, relay: string): Promise<Uint8Array> {
  const greet = await told(world, link, GREETING_MS, relay);
  if (greet.is !== "greet") throw unexpected(greet.is, "dialling");
  if (greet.body.version !== VERSION) {
    throw noCommonVersion(String(VERSION), String(greet.body.version));
  }
  return greet.body.nonce;
}

/** The relay's next message; throws what it refuses with. */
async function told(
  world: World,
  link: Carrier,
  patience: number,
  relay: string,
): Promise<RelayMessage> {
  let isLate = false;
  const forget = world.clock.after(patience, () => {
    isLate = true;
    link.close();
  });
  try {
    const said = decodeRelayMessage(await link.receive());
    if (said.is === "refused") {
      throw new HoldfastError(said.body.code, said.body.text, said.body.facts);
    }
    return said;
  } catch (thrown) {
    throw isLate ? unreachable(relay, "it does not answer") : thrown;
  } finally {
    forget();
  }
}

export function unreachable(relay: string, why: string): HoldfastError {
  const text = `the relay ${relay} cannot be reached: ${why}`;
  return new HoldfastError("relay-unreachable", text, { relay, why });
}
