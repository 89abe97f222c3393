import { useEffect, useRef } from "preact/hooks";
import { Approvals } from "./approvals.js";
import { CommandsPanel } from "./commands-panel.js";
import { GraphPanel } from "./graph-panel.js";
import { Icon } from "./icons.js";
import { LogPanel } from "./log-panel.js";
import { People } from "./people.js";
import type { SessionModel } from "./session-model.js";
import { type Panel, panel } from "./state.js";

const TITLES: Readonly<Record<Panel, string>> = {
  people: "Who is attached",
  approvals: "Approvals",
  commands: "Commands",
  graph: "Processes",
  log: "Logbook",
};

/** The panel beside the terminal; on a phone it covers the lower part. */
export function Panels({ model }: { readonly model: SessionModel }) {
  const open = panel.value;
  return open === null ? null : <Open model={model} open={open} />;
}

function Open({ model, open }: { readonly model: SessionModel; readonly open: Panel }) {
  const body = useRef<HTMLDivElement>(null);
  // The terminal lies between the tabs and here, and keeps every Tab for its program.
  useEffect(() => body.current?.focus(), [open]);
  const close = (): void => {
    const tab = document.querySelector<HTMLElement>(`[data-panel="${open}"]`);
    (tab ?? document.querySelector<HTMLElement>("[aria-label='More']"))?.focus();
    panel.value = null;
  };
  return (
    <aside
      class="panel"
      aria-label={TITLES[open]}
      onKeyDown={(event) => event.key === "Escape" && close()}
    >
      <header class="panel-head">
        <h2>{TITLES[open]}</h2>
        <button type="button" class="quiet square" aria-label="Close the panel" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it */}
      <div class="panel-body" ref={body} tabIndex={0}>
        {open === "people" && <People model={model} />}
        {open === "approvals" && <Approvals model={model} />}
        {open === "commands" && <CommandsPanel model={model} />}
        {open === "graph" && <GraphPanel model={model} />}
        {open === "log" && <LogPanel model={model} />}
      </div>
    </aside>
  );
}
