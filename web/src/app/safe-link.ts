/**
 * The links of a terminal that may be opened.
 *
 * A program prints what it likes, a link to anything included. Only web pages
 * are opened, never with a user and password in the address, and never before a
 * person has read where it leads.
 */

const MAX_LINK = 2048;

/** Return the address to open, or null for one that is never opened. */
export function safeLink(text: string): URL | null {
  if (text.length > MAX_LINK || /[\s\x00-\x1f]/u.test(text)) {
    return null;
  }
  let found: URL;
  try {
    found = new URL(text);
  } catch {
    return null;
  }
  const isWeb = found.protocol === "https:" || found.protocol === "http:";
  return isWeb && found.username === "" && found.password === "" ? found : null;
}
