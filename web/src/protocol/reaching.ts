/**
 * Reaches a host, and decides what to do when that fails.
 */

import type { Failure } from "./api.js";
import { asError, HoldfastError } from "./errors.js";
import type { Handshake } from "./handshake.js";
import { Joining, Opening } from "./handshake.js";
import { hostId } from "./ids.js";
import type { Invitation } from "./invites.js";
import type { Identity, World } from "./ports.js";
import { reach } from "./relay-messages.js";
import type { Sealed } from "./sealed.js";
import { shakeHands } from "./sealed.js";

/** Where a host is and by which keys it is known. */
export interface HostKeys {
  readonly id: string;
  readonly public: Uint8Array;
  readonly static: Uint8Array;
  readonly relays: readonly string[];
}

/** What dialling needs: the world, our keys, and each host's last relay. */
export interface Dialler {
  readonly world: World;
  readonly us: Identity;
  readonly actor: string;
  readonly ways: Map<string, string>;
}

/** Open a channel to a host, by the first of its relays that leads there. */
export async function reachHost(from: Dialler, host: HostKeys): Promise<Sealed> {
  const last = from.ways.get(host.id);
  const ordered = [...host.relays].sort((a, b) => Number(b === last) - Number(a === last));
  const begin = async (): Promise<Handshake> =>
    Opening.of(from.world.suite, from.us, host, await from.world.suite.ephemeral());
  const [sealed, relay] = await byAny(from, ordered, { target: host.id }, begin);
  from.ways.set(host.id, relay);
  return sealed;
}

/** Open a channel to the host that made an invitation. */
export async function joinHost(from: Dialler, invitation: Invitation): Promise<Sealed> {
  const { suite } = from.world;
  const target = await hostId(suite, invitation.hostPublic);
  const wish = { target, inviteId: invitation.id };
  const begin = async (): Promise<Handshake> =>
    Joining.of(suite, from.us, invitation.hostPublic, invitation, await suite.ephemeral());
  const [sealed] = await byAny(from, invitation.relays, wish, begin);
  return sealed;
}

async function byAny(
  from: Dialler,
  relays: readonly string[],
  wish: { readonly target: string; readonly inviteId?: Uint8Array },
  begin: () => Promise<Handshake>,
): Promise<readonly [Sealed, string]> {
  const errors: HoldfastError[] = [];
  for (const relay of relays) {
    try {
      const carrier = await reach(from.world, relay, from.us, wish);
      return [await shakeHands(from.world.clock, carrier, await begin()), relay];
    } catch (thrown) {
      errors.push(heardReason(asError(thrown)));
    }
  }
  // What cannot change by waiting is more telling than who did not answer.
  const final = errors.find((error) => failureOf(error) !== null);
  const last = errors.at(-1);
  throw (
    final ??
    last ??
    new HoldfastError("host-unreachable", "the host has no relay", {
      host: wish.target,
      why: "it has no relay",
    })
  );
}

/** Codes that a host gives as the reason of a closing; hints, as channel.md says. */
const REASONS: Readonly<Record<string, string>> = {
  revoked: "the host does not know our key any more",
  "invite-unknown": "the invitation was used, has expired or never was",
};

/** The error that the reason of a closing tells of, if it tells of one. */
export function heardReason(error: HoldfastError): HoldfastError {
  const why = error.code === "link-ended" ? String(error.facts["why"] ?? "") : "";
  if (!Object.hasOwn(REASONS, why)) return error;
  return new HoldfastError(why, REASONS[why]!);
}

/** Why a link is not to be had, or null if it is worth another try. */
export function failureOf(error: HoldfastError): Failure | null {
  switch (error.code) {
    case "no-common-version":
      return "version";
    case "revoked":
      return "revoked";
    case "wrong-identity":
      return "wrong-host";
    case "session-not-found":
    case "session-over":
      return "gone";
    case "session-stopped":
      return "stopped";
    default:
      return error.branch === "Forbidden" || error.branch === "UsageError" ? "refused" : null;
  }
}

/** Milliseconds until the next attempt, by how many have failed. */
const STEPS = [100, 500, 1_000, 2_000, 4_000, 8_000, 15_000];

/** How long to wait, with chance so that not all come at once. */
export function backOff(world: World, attempt: number): number {
  const step = STEPS[Math.min(attempt, STEPS.length) - 1] ?? STEPS[0]!;
  const chance = (world.suite.random(1)[0] ?? 0) / 255;
  return Math.round(step * (0.75 + 0.5 * chance));
}
