/**
 * What a host says of itself; the notices are for people to read.
 *
 * tools/write_web_protocol.py writes this file from the code in src/holdfast.
 */

import type { Packet } from "./packets.js";
import { shownOf, wordsOf } from "./packets.js";

/** What each field says is in src/holdfast/model/process_status.py. */
export interface HostStatus {
  readonly version: string;
  readonly name: string;
  readonly notices: readonly string[];
}

/** Read what a host says of itself; what is missing is empty. */
export function hostStatus(told: Packet): HostStatus {
  return {
    version: shownOf(told, "version"),
    name: shownOf(told, "name"),
    notices: wordsOf(told, "notices"),
  };
}
