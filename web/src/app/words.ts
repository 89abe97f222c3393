/** What things are called on the page: states, ages, sizes, endings. */

export type Tone = "calm" | "busy" | "needs" | "cold" | "over";

export interface Wording {
  readonly label: string;
  readonly tone: Tone;
}

const STATES: Readonly<Record<string, Wording>> = {
  "at-prompt": { label: "at prompt", tone: "calm" },
  starting: { label: "waiting to start", tone: "needs" },
  running: { label: "running", tone: "busy" },
  "waiting-for-input": { label: "waiting for input", tone: "needs" },
  "waiting-for-secret": { label: "waiting for a secret", tone: "needs" },
  frozen: { label: "frozen", tone: "cold" },
  stalled: { label: "not responding", tone: "cold" },
  exited: { label: "ended", tone: "over" },
  alive: { label: "alive", tone: "calm" },
};

/** Return how a state is shown; an unknown one is shown as it is. */
export function stateWording(state: string): Wording {
  return STATES[state] ?? { label: state.replaceAll("-", " "), tone: "busy" };
}

const STEPS: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** Return a duration in the unit that people would choose. */
export function age(ms: number): string {
  for (const [step, unit] of STEPS) {
    if (ms >= step) {
      return `${Math.floor(ms / step)} ${unit}`;
    }
  }
  return "now";
}

/** Return how long something took. */
export function took(ms: number): string {
  return ms < 1000 ? `${Math.max(0, Math.round(ms))} ms` : age(ms);
}

/** Return an amount of memory. */
export function amount(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let left = bytes;
  let unit = 0;
  while (left >= 1024 && unit < units.length - 1) {
    left /= 1024;
    unit += 1;
  }
  return `${left >= 10 || unit === 0 ? Math.round(left) : left.toFixed(1)} ${units[unit]}`;
}

/** Return how a session ended; below zero is the signal that ended it. */
export function ending(status: number | null, why = ""): string {
  if (status === null) {
    return why === "" ? "The session was lost." : `The session was lost: ${why}`;
  }
  return status < 0 ? `Killed by signal ${-status}.` : `Exited with status ${status}.`;
}
