/**
 * What can go wrong, as the caller has to know it.
 *
 * One class: what differs is the code, and codes.ts says of each code to which
 * branch it belongs, whether to try again and what to do next.
 */

import type { Branch } from "./codes.js";
import { CODES } from "./codes.js";
import type { Facts } from "./shapes.js";
import { printable } from "./text.js";

/** What a refusal itself says about trying again. */
export interface Advice {
  readonly retryable: boolean;
  readonly nextStep: string;
}

export class HoldfastError extends Error {
  override readonly name = "HoldfastError";
  readonly branch: Branch;
  readonly retryable: boolean;
  readonly nextStep: string;

  constructor(
    readonly code: string,
    text: string,
    readonly facts: Facts = {},
    advice?: Advice,
  ) {
    super(printable(text));
    const [branch, retryable, nextStep] = Object.hasOwn(CODES, code) ? CODES[code]! : UNKNOWN;
    this.branch = branch;
    this.retryable = advice?.retryable ?? retryable;
    this.nextStep = printable(advice?.nextStep ?? nextStep);
  }
}

/** A code of a later version: it is shown, and nothing is made of it. */
const UNKNOWN = ["PeerError", false, ""] as const;

/** Take whatever was thrown as one of our errors; anything else is a fault. */
export function asError(thrown: unknown): HoldfastError {
  if (thrown instanceof HoldfastError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new HoldfastError("link-ended", text, { why: printable(text) });
}

export function linkEnded(why: string): HoldfastError {
  const shown = printable(why);
  const text = shown ? `the link has ended: ${shown}` : "the link has ended";
  return new HoldfastError("link-ended", text, { why: shown });
}

export function malformed(what: string, why: string): HoldfastError {
  return new HoldfastError("malformed-message", `${what}: ${why}`, { what, why });
}

export function unexpected(message: string, state: string): HoldfastError {
  const text = `${message} makes no sense while ${state}`;
  return new HoldfastError("unexpected-message", text, { message, state });
}

export function noCommonVersion(ours: string, theirs: string): HoldfastError {
  const text = `we speak ${ours}, the other side says ${theirs}`;
  return new HoldfastError("no-common-version", text, { ours, theirs });
}
