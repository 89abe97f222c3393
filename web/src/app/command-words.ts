/**
 * A command line as a user types it into a field, as the words that a session is
 * started with.
 *
 * Plain and quoted words are split here; a line with anything else that a shell would
 * read is left to one.
 */

const PLAIN = /(?:"[^"\\$`!]*"|'[^']*'|[\w@%+:,./=-])+/uy;
const QUOTED = /"([^"]*)"|'([^']*)'/gu;
const ASSIGNED = /^\w+=/u;

/** Return the words; none for an empty line, which means the user's shell. */
export function commandWords(line: string): readonly string[] {
  const text = line.trim();
  const words: string[] = [];
  for (let at = 0; at < text.length; ) {
    PLAIN.lastIndex = at;
    const found = PLAIN.exec(text);
    const end = at + (found?.[0].length ?? 0);
    if (found === null || (end < text.length && !/\s/u.test(text.charAt(end)))) {
      return ["sh", "-c", text];
    }
    words.push(found[0]);
    at = end + (/^\s*/u.exec(text.slice(end))?.[0].length ?? 0);
  }
  if (/\n/u.test(text) || ASSIGNED.test(words[0] ?? "")) {
    return ["sh", "-c", text];
  }
  return words.map((word) => word.replace(QUOTED, (_, double, single) => double ?? single));
}
