/**
 * The content of an invitation link.
 *
 * docs/spec/channel.md, section 8; the twin of src/holdfast/wire/invites.py. No
 * error shows anything of the link: it is a secret until it is used.
 */

import { HoldfastError } from "./errors.js";
import type { Suite } from "./ports.js";
import { INVITE_ID } from "./records.js";
import { relayAddress } from "./relay-messages.js";
import { base64url, fromBase64, same, shownUtf8 } from "./text.js";

const VERSION = 1;
const PUBLIC = 32;
const SECRET = 16;
const SUM = 4;
const FIXED = 1 + PUBLIC + INVITE_ID + SECRET + 1;
const MAX_LINK = 4096;
const MAX_RELAYS = 8;
const PATH = "/j";

export interface Invitation {
  readonly hostPublic: Uint8Array;
  readonly id: Uint8Array;
  readonly secret: Uint8Array;
  /** In the order in which they are to be tried. */
  readonly relays: readonly string[];
}

/** Read a link, wherever white space got into it. Throws `malformed-invite`. */
export async function readInvitation(suite: Suite, link: string): Promise<Invitation> {
  if (link.length > MAX_LINK) throw misfit(`it is over ${MAX_LINK} characters`);
  const [place, ...rest] = link.replace(/\s/g, "").split("#");
  const fragment = rest.join("#");
  if (rest.length === 0 || !place!.endsWith(PATH)) {
    throw misfit("it does not lead to an invitation");
  }
  const raw = /^[A-Za-z0-9_-]*$/.test(fragment) ? fromBase64(fragment) : null;
  if (raw === null) throw misfit("it has letters that no invitation has");
  if (raw.length <= FIXED + SUM || raw[0] !== VERSION) {
    throw misfit("it is cut off, or of another version");
  }
  const said = raw.subarray(0, -SUM);
  const sum = (await suite.sha256(said)).subarray(0, SUM);
  if (!same(sum, raw.subarray(-SUM))) throw misfit("a letter of it is wrong or missing");
  if (base64url(raw) !== fragment) throw misfit("it is not written the one way it can be");
  return {
    hostPublic: said.slice(1, 1 + PUBLIC),
    id: said.slice(1 + PUBLIC, 1 + PUBLIC + INVITE_ID),
    secret: said.slice(1 + PUBLIC + INVITE_ID, FIXED - 1),
    relays: readRelays(said.subarray(FIXED - 1)),
  };
}

function readRelays(raw: Uint8Array): string[] {
  const found: string[] = [];
  let rest = raw.subarray(1);
  while (rest.length > 0) {
    const end = 1 + rest[0]!;
    if (rest.length < end) throw misfit("its relays are cut off");
    const url = shownUtf8(rest.subarray(1, end));
    if (relayAddress(url) === null) throw misfit("a relay in it is none");
    found.push(url);
    rest = rest.subarray(end);
  }
  if (found.length !== raw[0] || found.length < 1 || found.length > MAX_RELAYS) {
    throw misfit("its relays are not as many as it says");
  }
  return found;
}

function misfit(why: string): HoldfastError {
  return new HoldfastError("malformed-invite", `this is no invitation: ${why}`, { why });
}
