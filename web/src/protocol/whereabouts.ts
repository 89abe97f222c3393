/**
 * At which host is a session to be looked for?
 *
 * Theory of operation
 * -------------------
 * A session that moves says where it goes, signed by the host that it leaves. It takes a
 * moment until it goes on there, and it may come back; so both hosts are tried in turn
 * until one of them has it.
 *
 *     settled ─follow─▶ following ─found─▶ settled, at either of the two
 *                           └─ MOVING_MS later: lost sight of it, tried more slowly
 *
 * The twin of src/holdfast/sdk/moved_routes.py.
 *
 * I1  While it is followed, no refusal is final: the other of the two may have it.
 * I2  Words that lead back and forth do not make the time longer: it counts from the
 *     first of them.
 * I3  Once it was found, the host that it left is not asked any more.
 */

import type { Failure } from "./api.js";
import type { HostKeys } from "./reaching.js";

/** Milliseconds in which a session that moves is expected to go on somewhere. */
export const MOVING_MS = 60_000;

/** Milliseconds between two attempts meanwhile. */
export const FOLLOWING_MS = 150;

/** What a host refuses who does not know us. */
const UNKNOWN_THERE: readonly Failure[] = ["revoked", "refused"];

export class Whereabouts {
  /** What the host that it went to is called; empty if it has not moved. */
  name = "";
  private before: HostKeys | null = null;
  private untilAt: number | null = null;

  constructor(private here: HostKeys) {}

  /** Where it is looked for next. */
  get host(): HostKeys {
    return this.here;
  }

  /** Go to the host that it is said to have gone to. */
  follow(there: HostKeys, name: string, now: number): void {
    this.untilAt ??= now + MOVING_MS;
    if (there.id !== this.here.id) this.before = this.here;
    this.here = there;
    this.name = name;
  }

  /** Look next where it came from, or again where it went. */
  tryOther(): void {
    if (this.before !== null) [this.here, this.before] = [this.before, this.here];
  }

  /** It is here. */
  found(): void {
    this.before = null;
    this.untilAt = null;
    this.name = "";
  }

  /** Whether it is on its way, so that it will be found in a moment. */
  isFollowing(now: number): boolean {
    return this.untilAt !== null && now < this.untilAt;
  }

  /** Why it cannot be had, if a host says so that it went to and that we never joined. */
  failure(because: Failure): Failure {
    return this.name !== "" && UNKNOWN_THERE.includes(because) ? "elsewhere" : because;
  }
}
