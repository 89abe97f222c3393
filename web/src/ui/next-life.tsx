/** What can be done about a session that is not there: it was lost, or put to disk. */

import { useEffect, useState } from "preact/hooks";
import type { HostLink, LinkState, LostInfo } from "../protocol/api.js";
import { LostCard } from "./lost-card.js";
import type { SessionModel } from "./session-model.js";
import { livesBegun, page } from "./state.js";

/** Milliseconds between two looks: what has just ended is not listed as lost at once. */
const LOOK_MS = 1500;

export function NextLife({ model }: { readonly model: SessionModel }) {
  const { host: id, session } = model.link;
  const host = page.value?.link(id);
  const lost = useLost(host, session, isMissing(model.state.value));
  return lost !== null && host !== undefined ? (
    <div class="next-life">
      <LostCard host={host} lost={lost} />
    </div>
  ) : null;
}

/** What is known of a lost session; once it lives again, it is attached to anew. */
function useLost(host: HostLink | undefined, session: string, isMissed: boolean) {
  const [lost, setLost] = useState<LostInfo | null>(null);
  useEffect(() => {
    let wasLost = false;
    const look = async (): Promise<void> => {
      const found = await host?.listed();
      const one = found?.lost.find((other) => other.id === session) ?? null;
      const lives = found?.sessions.some((other) => other.id === session && other.exit === null);
      if (wasLost && one === null && lives) {
        livesBegun.value += 1;
      }
      wasLost ||= one !== null;
      setLost(one);
    };
    // A host that does not answer is told of elsewhere.
    const quietly = (): void => void look().catch(() => undefined);
    setLost(null);
    if (!isMissed) {
      return undefined;
    }
    quietly();
    const again = setInterval(quietly, LOOK_MS);
    return () => clearInterval(again);
  }, [host, session, isMissed]);
  return lost;
}

function isMissing(state: LinkState): boolean {
  return state.is === "failed"
    ? state.because === "gone" || state.because === "stopped"
    : state.is === "over" && state.status === null;
}
