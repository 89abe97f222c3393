/**
 * Reads a stretch of what a session has printed, through a link that begins there.
 */

import type { SessionEvent, SessionLink, Stretch } from "./api.js";
import type { Clock } from "./ports.js";

/** Milliseconds for all of it to come. */
const PATIENCE_MS = 10_000;

/** No more than this is read, counted from the end: of a longer stretch nothing. */
export const MAX_STRETCH = 1024 * 1024;

/** The bytes; null if they are not kept any more, or do not come. */
export function readStretch(
  link: SessionLink,
  { start, end }: Stretch,
  clock: Clock,
): Promise<Uint8Array | null> {
  if (!(end > start) || end - start > MAX_STRETCH) {
    return Promise.resolve(end === start ? new Uint8Array() : null);
  }
  const found = new Uint8Array(end - start);
  let have = start;
  return new Promise((done) => {
    const stop = link.listen((event: SessionEvent) => {
      if (event.is === "printed" && event.offset === have) {
        const more = event.data.subarray(0, end - have);
        found.set(more, have - start);
        have += more.length;
      }
      if (have === end) finish(found);
      else if (isInVain(event)) finish(null);
    });
    const forget = clock.after(PATIENCE_MS, () => finish(null));
    const finish = (value: Uint8Array | null): void => {
      forget();
      stop();
      done(value);
    };
  });
}

/** A picture or a gap comes in the place of what is gone. */
function isInVain(event: SessionEvent): boolean {
  const isOver = event.is === "link" && ["failed", "over"].includes(event.state.is);
  return isOver || ["painted", "gap", "exited"].includes(event.is);
}
