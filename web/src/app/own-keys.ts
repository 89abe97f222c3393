/**
 * Keys that a person has added to the key row, as they are written and kept.
 *
 * What a key sends is written as it is, with `^R` for Ctrl R, `\e` for Escape, `\t`,
 * `\r`, `\\`, `\^`, and `\x1b` for any other byte below 80.
 */

export interface OwnKey {
  readonly label: string;
  readonly sends: string;
}

export const MAX_OWN_KEYS = 24;
export const MAX_LABEL = 8;
export const MAX_SENDS = 64;

const PART = /\^([@-_a-z?])|\\x([0-7][0-9a-f])|\\([etrn\\^])|([^\\^])/giuy;

const NAMED: Readonly<Record<string, string>> = {
  e: "\x1b",
  t: "\t",
  r: "\r",
  n: "\n",
  "\\": "\\",
  "^": "^",
};

/** Return the bytes that are meant; null for what cannot be read. */
export function sentBy(written: string): string | null {
  if (written === "" || written.length > MAX_SENDS) {
    return null;
  }
  let sent = "";
  PART.lastIndex = 0;
  while (PART.lastIndex < written.length) {
    const found = PART.exec(written);
    if (found === null) {
      return null;
    }
    const [, control, hex, named, plain] = found;
    sent += controlled(control) ?? coded(hex) ?? NAMED[named?.toLowerCase() ?? ""] ?? plain ?? "";
  }
  return sent;
}

/** Return the keys that `stored` holds; what is not one is left out. */
export function ownKeysFrom(stored: string | null): readonly OwnKey[] {
  let found: unknown;
  try {
    found = JSON.parse(stored ?? "[]");
  } catch {
    return [];
  }
  return Array.isArray(found) ? found.filter(isOwnKey).slice(0, MAX_OWN_KEYS) : [];
}

function isOwnKey(one: unknown): one is OwnKey {
  const { label, sends } = (one ?? {}) as Record<string, unknown>;
  return (
    typeof label === "string" &&
    label !== "" &&
    [...label].length <= MAX_LABEL &&
    typeof sends === "string" &&
    sentBy(sends) !== null
  );
}

function controlled(letter: string | undefined): string | undefined {
  if (letter === undefined) {
    return undefined;
  }
  return letter === "?" ? "\x7f" : String.fromCharCode(letter.toUpperCase().charCodeAt(0) & 0x1f);
}

function coded(hex: string | undefined): string | undefined {
  return hex === undefined ? undefined : String.fromCharCode(Number.parseInt(hex, 16));
}
