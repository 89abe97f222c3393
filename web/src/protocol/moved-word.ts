/**
 * Where a session went, in the words of the host that it left, signed.
 *
 * The twin of src/holdfast/crypto/moved_word.py; both agree on the part `moved` of
 * tests/crypto/vectors/channel.json.
 *
 *     holdfast-moved-1.PAYLOAD.SIGNATURE
 *
 * I1  What another host has signed, or what is about another session, is not believed.
 * I2  Whatever the text, nothing but `token-forged` is thrown.
 */

import { HoldfastError } from "./errors.js";
import { PUBLIC, verify } from "./keys.js";
import type { Suite } from "./ports.js";
import { relayAddress } from "./relay-messages.js";
import { base64url, fromBase64, fromHex, joined, printable, shownUtf8, utf8 } from "./text.js";

const TITLE = "holdfast-moved-1";
const MAX_TEXT = 1024;
const MAX_NAME = 64;

export interface MovedWord {
  readonly session: string;
  /** The last life that it had where this is said. */
  readonly life: number;
  /** What the other host is called there, for people. */
  readonly host: string;
  readonly public: Uint8Array;
  readonly static: Uint8Array;
  readonly relays: readonly string[];
}

/** Read where a session went, if the host with that key has said so. */
export async function readMovedWord(
  suite: Suite,
  text: string,
  session: string,
  host: Uint8Array,
): Promise<MovedWord> {
  const [title, body, signature, ...rest] = text.length <= MAX_TEXT ? text.split(".") : [];
  if (title !== TITLE || body === undefined || signature === undefined || rest.length > 0) {
    throw forged(`it is no ${TITLE}`);
  }
  const payload = exactly(body);
  const signed = joined(utf8(`${TITLE}\n`), payload);
  if (!(await verify(suite, host, signed, exactly(signature)))) {
    throw forged("that host has not signed it");
  }
  const found = wordIn(payload);
  if (found.session !== session) throw forged("it is about another session");
  return found;
}

function wordIn(payload: Uint8Array): MovedWord {
  let said: unknown;
  try {
    said = JSON.parse(shownUtf8(payload));
  } catch {
    throw forged("it makes no sense");
  }
  const fields = (typeof said === "object" ? said : null) as Record<string, unknown> | null;
  const { session, life, host } = fields ?? {};
  if (typeof session !== "string" || typeof life !== "number" || typeof host !== "string") {
    throw forged("it makes no sense");
  }
  return {
    session,
    life,
    host: printable(host, MAX_NAME),
    public: keyIn(fields?.["public"]),
    static: keyIn(fields?.["static"]),
    relays: String(fields?.["relays"] ?? "")
      .split(" ")
      .filter((url) => relayAddress(url) !== null),
  };
}

function keyIn(value: unknown): Uint8Array {
  const isKey = typeof value === "string" && new RegExp(`^[0-9a-f]{${2 * PUBLIC}}$`).test(value);
  if (!isKey) throw forged("it names no key");
  return fromHex(value);
}

function exactly(text: string): Uint8Array {
  const raw = fromBase64(text);
  if (raw === null || base64url(raw) !== text) throw forged("it is not written in base64");
  return raw;
}

function forged(why: string): HoldfastError {
  return new HoldfastError("token-forged", `the word about a move is not genuine: ${why}`, { why });
}
