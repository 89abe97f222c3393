/**
 * The order in which sessions are listed.
 *
 * Those that need attention come first: a pending approval, a program that asks, a
 * frozen session; then running ones, the latest first; ended ones come last.
 *
 * I1  Two calls with the same sessions, in any order, return the same list.
 */

import type { Glance, SessionInfo } from "../protocol/api.js";

export interface Listed {
  readonly info: SessionInfo;
  /** Null until it was polled, or if that failed. */
  readonly glance: Glance | null;
}

export type Need = "approval" | "secret" | "input" | "frozen" | "none" | "over";

const RANKS: readonly Need[] = ["approval", "secret", "input", "frozen", "none", "over"];

/** Return what a session needs of the people who may see it. */
export function needOf({ info, glance }: Listed): Need {
  if (info.exit !== null || info.state === "exited") {
    return "over";
  }
  if (glance === null) {
    return "none";
  }
  if (glance.presence.pending.length > 0) {
    return "approval";
  }
  switch (glance.evidence.state) {
    case "waiting-for-secret":
      return "secret";
    case "waiting-for-input":
      return "input";
    case "frozen":
      return "frozen";
    default:
      return glance.presence.frozen ? "frozen" : "none";
  }
}

/** Return the sessions, those that need attention first. */
export function byUrgency(sessions: readonly Listed[]): Listed[] {
  return [...sessions].sort(
    (one, other) =>
      RANKS.indexOf(needOf(one)) - RANKS.indexOf(needOf(other)) ||
      other.info.createdMs - one.info.createdMs ||
      (one.info.id < other.info.id ? -1 : 1),
  );
}
