/** The end of a session's logbook, and what is added to it while it is shown. */

import { useEffect, useState } from "preact/hooks";
import type { LogEntry } from "../protocol/api.js";
import type { SessionModel } from "./session-model.js";
import { page } from "./state.js";

const LOOK_MS = 2000;

/** Read the last `count` entries, and new ones; null until they are there. */
export function useLogEntries(
  model: SessionModel,
  count: number,
  isWanted: (entry: LogEntry) => boolean = () => true,
): readonly LogEntry[] | null {
  const [entries, setEntries] = useState<readonly LogEntry[] | null>(null);
  useEffect(() => {
    let isGone = false;
    let from: number | null = null;
    let found: LogEntry[] = [];
    const read = async (): Promise<void> => {
      try {
        // A session that moves takes its logbook along.
        const host = page.value?.link(model.link.host);
        for (let size = -1; host !== undefined && from !== size && !isGone; ) {
          const part = await host.log(model.link.session, from ?? { last: count });
          found = [...found, ...part.entries.filter(isWanted)].slice(-count);
          size = part.next === from ? part.next : part.size;
          from = part.next;
        }
      } catch {
        // The link is down; what was read stays, and the rest comes later.
      }
      if (!isGone) {
        setEntries(found);
        timer = setTimeout(() => void read(), LOOK_MS);
      }
    };
    let timer = setTimeout(() => void read(), 0);
    const stop = model.onCommand(() => {
      clearTimeout(timer);
      timer = setTimeout(() => void read(), 0);
    });
    return () => {
      isGone = true;
      stop();
      clearTimeout(timer);
    };
  }, [model]);
  return entries;
}
