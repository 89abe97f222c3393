/**
 * The order in which sessions are listed.
 *
 * Those that need attention come first: a pending approval, a program that asks or
 * calls for attention, a frozen session; then running ones, the latest first; ended ones come last.
 *
 * I1  Two calls with the same sessions, in any order, return the same list.
 */

import type { Glance, SessionInfo } from "../protocol/api.js";

export interface Listed {
  readonly info: SessionInfo;
  /** Null until it was polled, or if that failed. */
  readonly glance: Glance | null;
}

const RANKS = ["approval", "secret", "attention", "input", "frozen", "none", "over"] as const;

export type Need = (typeof RANKS)[number];

/** Return what a session needs of the people who may see it. */
export function needOf({ info, glance }: Listed): Need {
  if (info.exit !== null || info.state === "exited") {
    return "over";
  }
  const called = info.attention === null ? "none" : "attention";
  if (glance === null) {
    return called;
  }
  if (glance.presence.pending.length > 0) {
    return "approval";
  }
  switch (glance.evidence.state) {
    case "waiting-for-secret":
      return "secret";
    case "waiting-for-input":
      return called === "none" ? "input" : called;
    case "frozen":
    case "fenced":
      return "frozen";
    default:
      return glance.presence.frozen ? "frozen" : called;
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
