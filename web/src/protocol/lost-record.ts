/**
 * A session that was lost, as its host lists it.
 *
 * tools/write_web_protocol.py writes this file from the code in src/holdfast.
 */

import type { SessionId } from "./api.js";
import type { Packet } from "./packets.js";
import { flagOf, numberOf, shownOf, textOf, wordsOf } from "./packets.js";

/** What each field says is in src/holdfast/model/lost_record.py. */
export interface LostInfo {
  readonly id: SessionId;
  readonly name: string;
  readonly seenMs: number;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly incarnation: number;
  readonly why: string;
  readonly needsEnvironment: boolean;
  readonly image: number;
  readonly saved: number;
  readonly savedMs: number;
}

/** Read what a host says of a lost session; what is missing is empty. */
export function lostInfo(told: Packet): LostInfo {
  return {
    id: textOf(told, "id"),
    name: shownOf(told, "name"),
    seenMs: numberOf(told, "seen_ms"),
    command: wordsOf(told, "command"),
    cwd: shownOf(told, "cwd"),
    incarnation: numberOf(told, "incarnation"),
    why: shownOf(told, "why"),
    needsEnvironment: flagOf(told, "needs_environment"),
    image: numberOf(told, "image"),
    saved: numberOf(told, "saved"),
    savedMs: numberOf(told, "saved_ms"),
  };
}
