/**
 * An image of a session, as its host lists it.
 *
 * tools/write_web_protocol.py writes this file from the code in src/holdfast.
 */

import type { SessionId } from "./api.js";
import type { Packet } from "./packets.js";
import { flagOf, numberOf, shownOf, textOf } from "./packets.js";

/** What each field says is in src/holdfast/model/image_record.py. */
export interface ImageInfo {
  readonly id: SessionId;
  readonly number: number;
  readonly name: string;
  readonly label: string;
  readonly madeMs: number;
  readonly size: number;
  readonly incarnation: number;
  readonly once: boolean;
  readonly problem: string;
}

/** Read what a host says of an image; what is missing is empty. */
export function imageInfo(told: Packet): ImageInfo {
  return {
    id: textOf(told, "id"),
    number: numberOf(told, "number"),
    name: shownOf(told, "name"),
    label: shownOf(told, "label"),
    madeMs: numberOf(told, "made_ms"),
    size: numberOf(told, "size"),
    incarnation: numberOf(told, "incarnation"),
    once: flagOf(told, "once"),
    problem: shownOf(told, "problem"),
  };
}
