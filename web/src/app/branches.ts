/** Branches among the sessions of a host: where each stands, and what one is called. */

import type { Listed } from "./urgency.js";

/** A session of the list, how deep it is below its first parent, and that one's name. */
export interface Placed {
  readonly listed: Listed;
  readonly depth: number;
  /** Empty if it is no branch; an id's beginning if its parent is not listed. */
  readonly parent: string;
}

const MAX_DEPTH = 4;
const MAX_NAME = 64;
const MOST = 10_000;

/**
 * Return the sessions with each branch below its parent.
 *
 * A family stands where the first of it stands, so what needs attention stays in front.
 */
export function byBranch(sessions: readonly Listed[]): Placed[] {
  const known = new Map(sessions.map((one) => [one.info.id, one]));
  const children = new Map<string, Listed[]>();
  for (const one of sessions) {
    const parent = known.get(one.info.parent?.session ?? "");
    if (parent !== undefined) {
      children.set(parent.info.id, [...(children.get(parent.info.id) ?? []), one]);
    }
  }
  const placed: Placed[] = [];
  const done = new Set<string>();
  const place = (listed: Listed, depth: number): void => {
    // A host could tell of a circle.
    if (done.has(listed.info.id)) {
      return;
    }
    done.add(listed.info.id);
    placed.push({ listed, depth: Math.min(depth, MAX_DEPTH), parent: parentTold(listed, known) });
    for (const child of children.get(listed.info.id) ?? []) {
      place(child, depth + 1);
    }
  };
  for (const one of sessions) {
    place(firstOf(one, known), 0);
    place(one, 0);
  }
  return placed;
}

/** Return the oldest of a session's parents that is listed; itself if none is. */
function firstOf(listed: Listed, known: ReadonlyMap<string, Listed>): Listed {
  const seen = new Set<string>();
  let first = listed;
  while (!seen.has(first.info.id)) {
    seen.add(first.info.id);
    first = known.get(first.info.parent?.session ?? "") ?? first;
  }
  return first;
}

function parentTold({ info }: Listed, known: ReadonlyMap<string, Listed>): string {
  const id = info.parent?.session ?? "";
  return known.get(id)?.info.name ?? id.slice(2, 8);
}

/** Return a name for a branch of a session that is called so: one that is free. */
export function freeName(parent: string, taken: readonly string[]): string {
  const others = new Set(taken.map((one) => one.toLowerCase()));
  for (let number = 2; number < MOST; number += 1) {
    const name = `${parent.slice(0, MAX_NAME - 6)}-${number}`;
    if (!others.has(name.toLowerCase())) {
      return name;
    }
  }
  return "";
}
