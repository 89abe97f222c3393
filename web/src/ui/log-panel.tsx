/** The logbook as a story, the latest last; a press on a command asks who is behind it. */

import { useEffect, useRef, useState } from "preact/hooks";
import { story, type StoryLine } from "../app/log-story.js";
import { shown } from "../app/shown-text.js";
import type { BlameReport, LogEntry } from "../protocol/api.js";
import { ActorName } from "./actor-name.js";
import type { SessionModel } from "./session-model.js";
import { attempt, page } from "./state.js";

const LOOK_MS = 2000;
const KEPT = 1500;

export function LogPanel({ model }: { readonly model: SessionModel }) {
  const entries = useEntries(model);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "end" }), [entries?.length]);
  if (entries === null) {
    return <p class="nothing">Reading the logbook…</p>;
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

/** Read the book to its end, and whatever is added while the panel is open. */
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
  const [blame, setBlame] = useState<BlameReport | null>(null);
  const ask = async (): Promise<void> => {
    setBlame(blame === null ? await attempt(model.link.blame("moment", "", line.at)) : null);
  };
  return (
    <li class={`story-line ${line.tone}`}>
      <time dateTime={new Date(line.at).toISOString()}>{clock(line.at)}</time>
      <span class="story-text">
        {line.actor !== "" && (
          <>
            <ActorName actor={line.actor} name={model.nameOf(line.actor)} />{" "}
          </>
        )}
        {line.command > 0 ? (
          <span
            class="link"
            role="button"
            tabIndex={0}
            aria-expanded={blame !== null}
            onClick={() => void ask()}
            onKeyDown={(event) => event.key === "Enter" && void ask()}
          >
            {line.text}
          </span>
        ) : (
          line.text
        )}
        {blame !== null && <Blame model={model} blame={blame} />}
      </span>
    </li>
  );
}

function Blame(props: { readonly model: SessionModel; readonly blame: BlameReport }) {
  const { behind } = props.blame;
  if (behind === null) {
    return <small class="blame">Nobody can be named.</small>;
  }
  const authors = behind.authors.map(props.model.nameOf).join(", ");
  return (
    <small class="blame">
      Command {behind.command}, entered by{" "}
      {behind.trigger === "" ? "somebody" : props.model.nameOf(behind.trigger)}
      {authors === "" ? "" : `, typed by ${authors}`}: {shown(behind.line, 120)}
    </small>
  );
}

function clock(at: number): string {
  const then = new Date(at);
  return [then.getHours(), then.getMinutes(), then.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}
