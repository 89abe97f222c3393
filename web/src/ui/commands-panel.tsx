/** Every command as a block: how it ended, how long it took, who ran it, what it printed. */

import { useEffect, useRef, useState } from "preact/hooks";
import { type CommandBlock, commandBlocks, isRepeatable } from "../app/command-blocks.js";
import { shown } from "../app/shown-text.js";
import { clock, took } from "../app/words.js";
import type { LogEntry } from "../protocol/api.js";
import { Actor } from "./actor-name.js";
import { Icon } from "./icons.js";
import { useLogEntries } from "./log-entries.js";
import { copyText } from "./select-text.js";
import type { SessionModel } from "./session-model.js";
import { attempt } from "./state.js";

const ENTRIES = 3000;
const SHOWN_BLOCKS = 200;
const TOLD = ["began", "finished", "exited", "recovered"];

const isTold = (entry: LogEntry): boolean => TOLD.includes(entry.kind);

export function CommandsPanel({ model }: { readonly model: SessionModel }) {
  const entries = useLogEntries(model, ENTRIES, isTold);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: "end" }), [entries?.length]);
  if (entries === null) {
    return <p class="nothing">Loading the commands…</p>;
  }
  const blocks = commandBlocks(entries).slice(-SHOWN_BLOCKS);
  return (
    <>
      {blocks.length === 0 && (
        <p class="nothing">No commands yet, or the shell does not mark them.</p>
      )}
      <ol class="blocks">
        {blocks.map((block) => (
          <Block key={block.key} model={model} block={block} />
        ))}
      </ol>
      <div ref={end} />
    </>
  );
}

const STATES: Readonly<Record<CommandBlock["state"], string>> = {
  running: "running",
  done: "status 0",
  failed: "status",
  unknown: "status not known",
};

function Block(props: { readonly model: SessionModel; readonly block: CommandBlock }) {
  const { model, block } = props;
  const [output, setOutput] = useState<string | null>(null);
  const unfold = async (): Promise<void> => {
    setOutput(output === null ? await attempt(model.outputOf(block)) : null);
  };
  const copy = async (): Promise<void> => {
    const text = await attempt(model.outputOf(block));
    if (text !== null) {
      await copyText(text);
    }
  };
  const status = block.state === "failed" ? `status ${block.status}` : STATES[block.state];
  return (
    <li class={`block is-${block.state}`}>
      <button
        type="button"
        class="block-head"
        aria-expanded={output !== null}
        title="Show or hide its output"
        onClick={() => void unfold()}
      >
        <Icon name={output === null ? "right" : "down"} />
        <code>{shown(block.line, 400) || "a command that the shell did not tell"}</code>
      </button>
      <p class="block-facts">
        <b class="block-state">{status}</b>
        {block.durationMs !== null && ` · ${took(block.durationMs)}`}
        {block.actor !== "" && (
          <>
            {" · "}
            <Actor model={model} actor={block.actor} />
          </>
        )}
        {" · "}
        <time dateTime={new Date(block.at).toISOString()}>{clock(block.at)}</time>
      </p>
      <p class="block-buttons">
        <button type="button" class="quiet" onClick={() => void copy()}>
          <Icon name="copy" /> Copy output
        </button>
        <button
          type="button"
          class="quiet"
          disabled={!isRepeatable(block) || model.link.mode === "observe"}
          onClick={() => model.runAgain(block.line)}
        >
          <Icon name="again" /> Run again
        </button>
      </p>
      {output !== null && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it
        <pre class="block-output" tabIndex={0}>
          {output === "" ? "It printed nothing." : output}
        </pre>
      )}
    </li>
  );
}
