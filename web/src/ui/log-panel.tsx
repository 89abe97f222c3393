/** The logbook as a story, oldest first; a press on a command asks who is behind it. */

import { useEffect, useRef } from "preact/hooks";
import { type StoryLine, story } from "../app/log-story.js";
import { clock } from "../app/words.js";
import { Actor } from "./actor-name.js";
import { Blamed } from "./blame.js";
import { useLogEntries } from "./log-entries.js";
import type { SessionModel } from "./session-model.js";

const KEPT = 1500;

export function LogPanel({ model }: { readonly model: SessionModel }) {
  const entries = useLogEntries(model, KEPT);
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
