/**
 * A session, as its host lists it.
 *
 * tools/write_web_protocol.py writes this file from the code in src/holdfast.
 */

import type { SessionId } from "./api.js";
import type { Attention } from "./attention.js";
import type { Cells } from "./messages.js";
import type { Packet } from "./packets.js";
import {
  attentionOf,
  cellsOf,
  flagOf,
  numberOf,
  numberOrNull,
  parentOf,
  shownOf,
  textOf,
  wordsOf,
} from "./packets.js";
import type { Parent } from "./parent.js";

/** What each field says is in src/holdfast/model/session_record.py. */
export interface SessionInfo {
  readonly id: SessionId;
  readonly name: string;
  readonly pid: number;
  readonly state: string;
  readonly exit: number | null;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly createdMs: number;
  readonly size: Cells | null;
  readonly keep: boolean;
  readonly dozing: boolean;
  readonly idleMs: number;
  readonly doing: string;
  readonly turnOf: string;
  readonly attached: readonly string[];
  readonly outputMs: number;
  readonly attention: Attention | null;
  readonly incarnation: number;
  readonly recoveredMs: number;
  readonly runtime: string;
  readonly noCapsule: string;
  readonly memory: number;
  readonly millicpus: number;
  readonly pids: number;
  readonly authority: string;
  readonly fenced: string;
  readonly imagedMs: number;
  readonly reapsMs: number;
  readonly parent: Parent | null;
}

/** Read what a host says of a session; what is missing is empty. */
export function sessionInfo(told: Packet): SessionInfo {
  return {
    id: textOf(told, "id"),
    name: shownOf(told, "name"),
    pid: numberOf(told, "pid"),
    state: shownOf(told, "state"),
    exit: numberOrNull(told, "exit"),
    command: wordsOf(told, "command"),
    cwd: shownOf(told, "cwd"),
    createdMs: numberOf(told, "created_ms"),
    size: cellsOf(told, "size"),
    keep: flagOf(told, "keep"),
    dozing: flagOf(told, "dozing"),
    idleMs: numberOf(told, "idle_ms"),
    doing: shownOf(told, "doing"),
    turnOf: shownOf(told, "turn_of"),
    attached: wordsOf(told, "attached"),
    outputMs: numberOf(told, "output_ms"),
    attention: attentionOf(told, "attention"),
    incarnation: numberOf(told, "incarnation"),
    recoveredMs: numberOf(told, "recovered_ms"),
    runtime: shownOf(told, "runtime"),
    noCapsule: shownOf(told, "no_capsule"),
    memory: numberOf(told, "memory"),
    millicpus: numberOf(told, "millicpus"),
    pids: numberOf(told, "pids"),
    authority: shownOf(told, "authority"),
    fenced: shownOf(told, "fenced"),
    imagedMs: numberOf(told, "imaged_ms"),
    reapsMs: numberOf(told, "reaps_ms"),
    parent: parentOf(told, "parent"),
  };
}
