/** The logbook as a story, oldest first; a press on a command asks who is behind it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { type StoryLine, story } from "../app/log-story.js";
import type { LogEntry } from "../protocol/api.js";
import { Actor } from "./actor-name.js";
import { Blamed } from "./blame.js";
import type { SessionModel } from "./session-model.js";
import { page } from "./state.js";

const LOOK_MS = 2000;
const KEPT = 1500;

export function LogPanel({ model }: { readonly model: SessionModel }) {
  const entries = useEntries(model);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "end" }), [entries?.length]);
  if (entries === null) {
    return <p class="nothing">Loading the logbook…</p>;
  }
  return (
    <>
      <ol class="story">
        {story(entries, model.nameOf).map((line) => (
          <Line key={line.index} model={model} line={line} />
        ))}
      </ol>
      <div ref={end} />
    </>
  );
}

/** Read the logbook to its end, and new entries while the panel is open. */
function useEntries(model: SessionModel): readonly LogEntry[] | null {
  const [entries, setEntries] = useState<readonly LogEntry[] | null>(null);
  useEffect(() => {
    let isGone = false;
    let from = 0;
    let found: LogEntry[] = [];
    const host = page.value?.link(model.link.host);
    const read = async (): Promise<void> => {
      try {
        for (let size = -1; host !== undefined && from !== size && !isGone; ) {
          const part = await host.log(model.link.session, from);
          found = [...found, ...part.entries].slice(-KEPT);
          size = part.next === from ? from : part.size;
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
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [model]);
  return entries;
}

function Line(props: { readonly model: SessionModel; readonly line: StoryLine }) {
  const { model, line } = props;
  return (
    <li class={`story-line ${line.tone}`}>
      <time dateTime={new Date(line.at).toISOString()}>{clock(line.at)}</time>
      <span class="story-text">
        {line.actor !== "" && (
          <>
            <Actor model={model} actor={line.actor} />{" "}
          </>
        )}
        {line.command > 0 ? (
          <Blamed model={model} ask={() => model.link.blame("moment", "", line.at)}>
            {line.text}
          </Blamed>
        ) : (
          line.text
        )}
      </span>
    </li>
  );
}

function clock(at: number): string {
  const then = new Date(at);
  return [then.getHours(), then.getMinutes(), then.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}
