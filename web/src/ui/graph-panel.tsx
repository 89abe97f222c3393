/** What runs in the session now, what listens where, and who started it. */

import { useEffect, useState } from "preact/hooks";
import { asWritten, type Branch, branches, startedMs } from "../app/process-tree.js";
import { shown } from "../app/shown-text.js";
import { age, amount } from "../app/words.js";
import type { Graph } from "../protocol/api.js";
import { Actor } from "./actor-name.js";
import { Blamed } from "./blame.js";
import type { SessionModel } from "./session-model.js";

const LOOK_MS = 3000;

export function GraphPanel({ model }: { readonly model: SessionModel }) {
  const [graph, setGraph] = useState<Graph | null>(null);
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    let isGone = false;
    const look = async (): Promise<void> => {
      try {
        const found = await model.link.graph();
        if (!isGone) {
          setGraph(found);
          setTrouble("");
        }
      } catch (error) {
        setTrouble(
          error instanceof Error ? shown(error.message) : "The processes cannot be shown.",
        );
      }
    };
    void look();
    const timer = setInterval(() => void look(), LOOK_MS);
    return () => {
      isGone = true;
      clearInterval(timer);
    };
  }, [model]);
  if (graph === null) {
    return <p class="nothing">{trouble || "Loading the processes…"}</p>;
  }
  const found = branches(graph);
  const memory = graph.processes.reduce((sum, one) => sum + one.rss, 0);
  return (
    <>
      <p class="detail">
        {found.length} {found.length === 1 ? "process" : "processes"}, {amount(memory)},{" "}
        {graph.listeners.length} listening, {graph.connections.length} connected.
      </p>
      {trouble !== "" && <p class="detail">{trouble}</p>}
      <ul class="tree">
        {found.map((one) => (
          <Process
            key={`${one.process.pid} ${one.process.started_ticks}`}
            model={model}
            branch={one}
            startedMs={startedMs(graph, one.process)}
          />
        ))}
      </ul>
    </>
  );
}

function Process(props: {
  readonly model: SessionModel;
  readonly branch: Branch;
  readonly startedMs: number | null;
}) {
  const { model } = props;
  const { process, depth, listeners, connections } = props.branch;
  const written = shown(asWritten(process.command), 128);
  const begunMs = props.startedMs;
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: ARIA 1.2 has it for items of a list
    <li aria-level={depth + 1} class={`branch depth-${Math.min(depth, 8)}`}>
      <code class="branch-command" title={shown(process.command, 128)}>
        {begunMs === null ? (
          written
        ) : (
          <Blamed model={model} ask={() => model.link.blame("process", "", begunMs)}>
            {written}
          </Blamed>
        )}
      </code>
      <small>
        {process.pid} · {amount(process.rss)} · {age(process.age_ms)} · {process.state}
        {process.actor !== "" && (
          <>
            {" "}
            · by <Actor model={model} actor={process.actor} />
          </>
        )}
        {connections > 0 && ` · ${connections} connected`}
      </small>
      {listeners.map((one) => (
        <span key={`${one.protocol} ${one.address} ${one.port}`} class="chip tone-busy port">
          {one.protocol} {shown(one.address, 60)}
          {one.port > 0 ? `:${one.port}` : ""}
        </span>
      ))}
    </li>
  );
}
