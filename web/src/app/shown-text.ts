/**
 * Shows text from others without deceiving the reader.
 *
 * The page puts such text into text nodes only, so no markup in it is obeyed.
 * What is left is what a reader's eye obeys: characters that reverse the reading
 * order, or that cannot be seen. They are shown as escapes, as the command line
 * does it (model/text.py).
 */

const UNSAFE =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is meant by itself
  /\p{C}|[\p{Zl}\p{Zp}]|(?! )\p{Zs}|[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0\ufe00-\ufe0f]/gu;
const LIMIT = 200;

/** Return `text` with everything escaped that a reader would obey or not see. */
export function shown(text: string, limit = LIMIT): string {
  const points = [...text.slice(0, limit * 2)];
  const kept = points.slice(0, limit).join("").replace(UNSAFE, escaped);
  return points.length > limit || text.length > limit * 2 ? `${kept}…` : kept;
}

/** The same for a name, which is ASCII: any other letter could be an imitation. */
export function shownName(text: string): string {
  return shown(text, 64).replace(/[^\x20-\x7e…]/gu, escaped);
}

/** Return typed bytes as people read them: keys as symbols. */
export function shownKeys(raw: Uint8Array, limit = LIMIT): string {
  const text = new TextDecoder().decode(raw);
  return text
    .slice(0, limit)
    .replace(/\x1b\[[ABCD]|[\x00-\x1f\x7f]|[^\x00-\x7f]/gu, key)
    .concat(text.length > limit ? `… and ${text.length - limit} more` : "");
}

const KEYS: Readonly<Record<string, string>> = {
  "\x1b[A": "↑",
  "\x1b[B": "↓",
  "\x1b[C": "→",
  "\x1b[D": "←",
  "\r": "⏎",
  "\n": "⏎",
  "\t": "⇥",
  "\x7f": "⌫",
  "\x1b": "⎋",
};

function key(typed: string): string {
  const sign = KEYS[typed];
  if (sign !== undefined) {
    return sign;
  }
  if (typed < " ") {
    return `⌃${String.fromCharCode(typed.charCodeAt(0) + 0x40)}`;
  }
  return "⏎⇥⌫⎋↑↓←→⌃".includes(typed) ? escaped(typed) : shown(typed);
}

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point <= 0xff) {
    return `\\x${point.toString(16).padStart(2, "0")}`;
  }
  return point <= 0xffff
    ? `\\u${point.toString(16).padStart(4, "0")}`
    : `\\U${point.toString(16).padStart(8, "0")}`;
}
