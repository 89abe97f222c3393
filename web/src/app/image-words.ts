/** What is said of images: how one came to be, what it is, and what went wrong. */

import type { Checkpointed, HoldfastError, ImageInfo, Preflight } from "../protocol/api.js";
import { shown, shownName } from "./shown-text.js";
import { age, amount } from "./words.js";

/** Return the sentences about an image that was just made. */
export function checkpointTold(made: Checkpointed): readonly string[] {
  const size = amount(made.size);
  const still = seconds(made.still_ms);
  const first = made.stopped
    ? `The session is on disk as image ${made.number} (${size}), and has ended.`
    : `Image ${made.number} is on disk (${size}). The session was stopped for ${still}, and continues.`;
  return [
    first,
    ...made.cuts.map(
      (cut) => `${whose(cut)}: a restore closes the connection to ${shown(cut.peer, 80)}.`,
    ),
  ];
}

/** Return what keeps a session from being put to disk: each with what to do about it. */
export function blockersTold(seen: Preflight): readonly { what: string; remedy: string }[] {
  const found = seen.blockers.map((one) => ({
    what: [
      `${one.pid > 0 ? `${whose(one)}: ` : ""}${sentence(shown(one.what, 200))}`,
      sentence(shown(one.why, 200)),
    ].join(" "),
    remedy: shown(one.remedy, 200),
  }));
  return seen.unlisted > 0 && found.length > 0
    ? [...found, { what: `And ${seen.unlisted} more.`, remedy: "" }]
    : found;
}

/** Return what an image is called: its label, or its number. */
export function imageName(image: ImageInfo): string {
  return image.label === "" ? `Image ${image.number}` : shown(image.label, 80);
}

/** Return the facts of an image in one line. */
export function imageFacts(image: ImageInfo, now: number, withSession: boolean): string {
  const facts = withSession ? [shownName(image.name)] : [];
  if (image.label !== "") {
    facts.push(`image ${image.number}`);
  }
  if (image.madeMs > 0) {
    facts.push(amount(image.size), made(now - image.madeMs));
  }
  if (image.once) {
    facts.push("the session ended with it");
  }
  return facts.join(" · ");
}

/** Return why something about an image did not work, and what to do next. */
export function imageTrouble(error: unknown): string {
  if (!(error instanceof Error)) {
    return "It did not work. Try again.";
  }
  const { code, nextStep } = error as Partial<HoldfastError>;
  const next = NEXT[code ?? ""] ?? nextStep ?? "";
  return [sentence(shown(error.message, 400)), next].filter((one) => one !== "").join(" ");
}

/** What the codes advise is for a command line; here these are the same on a page. */
const NEXT: Readonly<Record<string, string>> = {
  "not-checkpointable": "Only sessions in a capsule can be saved to disk, and not while frozen.",
  "image-not-found": "It was removed.",
  "image-spent": "Restore a newer image of the session.",
  "image-busy": "Try again in a moment.",
  "image-unwritten": "Remove images that are not needed, or free some space on the host's disk.",
  "criu-failed": "On the host, `holdfast doctor` says whether CRIU works there.",
  "still-alive": "End the session first, then restore.",
  "name-taken": "Rename or end the other session of that name, then try again.",
  "not-allowed": "Ask the person who invited you.",
};

/** Return what an event says of images and lives of a session; else nothing. */
export function imageEventTold(
  name: string,
  fields: Readonly<Record<string, string | number>>,
  nameOf: (actor: string) => string,
): string {
  const by = shown(nameOf(String(fields["actor"] ?? "")), 64);
  switch (name) {
    case "session.checkpointed":
      return `${by} saved the session to disk. It was stopped for ${seconds(Number(fields["still_ms"] ?? 0))}.`;
    case "session.forked":
      return `${by} made a branch of the session.`;
    case "session.stopped":
      return `${by} saved the session to disk, and ended it.`;
    case "session.restored":
      return "The session was restored from an image.";
    case "session.recovered":
      return "The session was lost, and was started again.";
    default:
      return "";
  }
}

function whose(one: { readonly program: string; readonly pid: number }): string {
  return `${shown(one.program, 40)} (${one.pid})`;
}

function made(agoMs: number): string {
  return agoMs < 1000 ? "just now" : `${age(agoMs)} ago`;
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(2)} s` : age(ms);
}

function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/u.test(first) || first === "" ? first : `${first}.`;
}
