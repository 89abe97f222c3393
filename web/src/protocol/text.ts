/**
 * Bytes and texts, one from the other.
 */

// Parts of the language's platform everywhere, but typed with the DOM.
declare const TextEncoder: new () => { encode(text: string): Uint8Array };
declare const TextDecoder: new (
  label: string,
  options: { fatal: boolean; ignoreBOM: boolean },
) => { decode(raw: Uint8Array): string };

const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** Characters of a stranger's sentence that are shown at most. */
const SHOWN = 1024;

/**
 * What is never shown: control characters, and those that turn the direction of
 * writing, so that nothing reads differently from what it is.
 */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Read UTF-8; throws if it is none. */
export function fromUtf8(raw: Uint8Array): string {
  return strict.decode(raw);
}

/** Read UTF-8, with a mark in the place of what is none. */
export function shownUtf8(raw: Uint8Array): string {
  return lenient.decode(raw);
}

/** A stranger's text as it may be shown, on one line. */
export function printable(text: string, limit = SHOWN): string {
  return text.slice(0, limit).replace(UNSEEN, " ").trim();
}

export function hex(raw: Uint8Array): string {
  let made = "";
  for (const byte of raw) made += byte.toString(16).padStart(2, "0");
  return made;
}

export function fromHex(digits: string): Uint8Array {
  const raw = new Uint8Array(digits.length / 2);
  for (let at = 0; at < raw.length; at += 1) {
    raw[at] = Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16);
  }
  return raw;
}

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Letters that stand for so many bits each, the last filled with zeros. */
function letters(raw: Uint8Array, alphabet: string, bits: number): string {
  let made = "";
  let held = 0;
  let count = 0;
  for (const byte of raw) {
    held = (held << 8) | byte;
    count += 8;
    while (count >= bits) {
      count -= bits;
      made += alphabet[held >> count];
      held &= (1 << count) - 1;
    }
  }
  return count > 0 ? made + alphabet[held << (bits - count)] : made;
}

export function base32(raw: Uint8Array): string {
  return letters(raw, BASE32, 5);
}

export function base64url(raw: Uint8Array): string {
  return letters(raw, BASE64, 6);
}

/** Read base64, of either alphabet and padded or not; null if it is none. */
export function fromBase64(text: string): Uint8Array | null {
  const bare = text.replace(/=+$/, "").replace(/\+/g, "-").replace(/\//g, "_");
  const raw = new Uint8Array(Math.floor((bare.length * 6) / 8));
  let held = 0;
  let count = 0;
  let at = 0;
  for (const letter of bare) {
    const value = BASE64.indexOf(letter);
    if (value < 0) return null;
    held = (held << 6) | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      raw[at] = held >> count;
      at += 1;
      held &= (1 << count) - 1;
    }
  }
  return raw;
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function same(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
