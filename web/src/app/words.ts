/** What things are called on the page: states, ages, sizes, endings. */

export type Tone = "calm" | "busy" | "needs" | "cold" | "over";

/** The tone of each state. Its label is the state itself, as `holdfast state` prints it. */
const TONES: Readonly<Record<string, Tone>> = {
  "at-prompt": "calm",
  starting: "needs",
  running: "busy",
  busy: "busy",
  idle: "calm",
  "waiting-for-input": "needs",
  "waiting-for-secret": "needs",
  frozen: "cold",
  fenced: "cold",
  stalled: "cold",
  exited: "over",
  "on disk": "over",
  gone: "over",
  alive: "calm",
};

/** Return the tone of a state; one of a later version counts as busy. */
export function toneOf(state: string): Tone {
  return Object.hasOwn(TONES, state) ? (TONES[state] ?? "busy") : "busy";
}

/** Return a state, and in which program, in the words of `holdfast state`. */
export function stateTold(state: string, program: string): string {
  return program === "" ? state : `${state} in ${program}`;
}

/** Return a state in one short word, for a header that has no room for more. */
export function stateInBrief(state: string): string {
  return state.replace(/^(waiting-for|at)-/, "");
}

/** Return how a call for attention is shown: its text is not ours. */
export function callTold(call: { readonly text: string }): string {
  return call.text === "" ? "rings the bell" : `“${call.text}”`;
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

/** Return the time of day. */
export function clock(at: number): string {
  const then = new Date(at);
  return [then.getHours(), then.getMinutes(), then.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
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

const ACTS: readonly (readonly [string, string])[] = [
  ["observe", "watch"],
  ["input", "type"],
  ["command", "run commands"],
  ["signal", "send signals"],
  ["resize", "resize"],
  ["take", "take the turn"],
  ["seize", "seize and freeze"],
  ["grant", "give rights"],
  ["approve", "approve"],
  ["end", "rename and end sessions"],
  ["checkpoint", "save sessions to disk"],
  ["fork", "fork sessions"],
  ["move", "move sessions to another host"],
  ["create", "start sessions"],
];

/** Return what rights allow; one of a later version is shown as it is. */
export function rightsTold(rights: readonly string[]): string {
  const lacking = ACTS.filter(([right]) => !rights.includes(right));
  if (lacking.length === 0) {
    return "do everything";
  }
  if (lacking.length === 1) {
    return `do everything but ${lacking[0]?.[1]}`;
  }
  const known = ACTS.filter(([right]) => rights.includes(right)).map(([, act]) => act);
  const others = rights.filter((right) => !ACTS.some(([one]) => one === right));
  return [...known, ...others].join(", ") || "do nothing";
}
