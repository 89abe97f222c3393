/**
 * What is a channel for? The twin of src/holdfast/wire/opening.py.
 */

import { HoldfastError, linkEnded, malformed, unexpected } from "./errors.js";
import { OPENING } from "./messages.js";
import { VERSION } from "./records.js";
import type { Sealed } from "./sealed.js";
import type { Tagged } from "./shapes.js";
import { Misfit, readTagged, writeTagged } from "./shapes.js";

const MAX_OPENING = 32_768;

export type OpeningMessage = Tagged<typeof OPENING>;

export function decodeOpening(raw: Uint8Array): OpeningMessage {
  if (raw.length > MAX_OPENING) throw malformed("opening", `of ${raw.length} bytes`);
  try {
    return readTagged(OPENING, raw);
  } catch (thrown) {
    if (!(thrown instanceof Misfit)) throw thrown;
    throw malformed("opening", thrown.message);
  }
}

/** Say what a channel is for: `host`, or a session's id. It is not answered here. */
export function sayOpen(sealed: Sealed, target: string): Promise<void> {
  const said: OpeningMessage = { is: "open", body: { version: VERSION, target } };
  return sealed.send(writeTagged(OPENING, said));
}

/** Hear whether the host agrees; the next record is its answer, and only that. */
export async function hearOpened(sealed: Sealed): Promise<void> {
  const raw = await sealed.receive();
  if (raw.length === 0) throw linkEnded("the host hung up");
  const said = decodeOpening(raw);
  if (said.is === "opened") return;
  if (said.is === "open") throw unexpected("open", "opening a channel");
  throw new HoldfastError(said.body.code, said.body.text, said.body.facts);
}
