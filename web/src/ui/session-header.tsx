/** The header of a session: its name and state, and the turn. */

import { shownName } from "../app/shown-text.js";
import { Actor } from "./actor-name.js";
import { Icon, type IconName } from "./icons.js";
import { changeFont, isDark, nextTheme } from "./preferences.js";
import { isSearching } from "./search-bar.js";
import type { SessionModel } from "./session-model.js";
import { type Panel, panel } from "./state.js";
import { StateChip } from "./state-chip.js";
import { TurnButtons } from "./turn-buttons.js";

export function SessionHeader({ model }: { readonly model: SessionModel }) {
  const view = model.view.value;
  return (
    <header class="bar session-bar">
      <div class="bar-row">
        <a class="quiet square button" href="#/" aria-label="All sessions">
          <Icon name="back" />
        </a>
        <div class="title">
          <h1>{view === null ? "…" : shownName(view.name)}</h1>
          {view !== null && (
            <span class="doing" aria-live="polite">
              <StateChip state={model.does.value} why={model.evidence.value?.why ?? []} />
            </span>
          )}
          {model.title.value !== "" && <small>{model.title.value}</small>}
        </div>
        <span class="grow" />
        <Tools />
      </div>
      <div class="bar-row turn-row">
        <Turn model={model} />
        <span class="grow" />
        <TurnButtons model={model} />
      </div>
      <Tabs model={model} />
    </header>
  );
}

function Turn({ model }: { readonly model: SessionModel }) {
  const view = model.view.value;
  if (view === null) {
    return <span class="turn" />;
  }
  if (view.hasTurn) {
    return (
      <span class="turn ours" aria-live="polite">
        <i class="dot" /> You have the turn
      </span>
    );
  }
  return view.holder === "" ? (
    <span class="turn free" aria-live="polite">
      <i class="dot" /> The turn is free{model.isFrozen.value ? "" : ": type to take it"}
    </span>
  ) : (
    <span class="turn theirs" aria-live="polite">
      <i class="dot" />
      <span class="turn-text">
        <Actor model={model} actor={view.holder} /> <span>has the turn</span>
      </span>
    </span>
  );
}

function Tools() {
  return (
    <div class="tools" role="toolbar" aria-label="Appearance">
      <button
        type="button"
        class="quiet square"
        aria-label="Find"
        onClick={() => {
          isSearching.value = !isSearching.value;
        }}
      >
        <Icon name="search" />
      </button>
      <button
        type="button"
        class="quiet square"
        aria-label="Smaller text"
        onClick={() => changeFont(-1)}
      >
        A−
      </button>
      <button
        type="button"
        class="quiet square"
        aria-label="Larger text"
        onClick={() => changeFont(1)}
      >
        A+
      </button>
      <button
        type="button"
        class="quiet square"
        aria-label={isDark.value ? "Light colours" : "Dark colours"}
        onClick={nextTheme}
      >
        <Icon name="sun" />
      </button>
    </div>
  );
}

const TABS: readonly (readonly [Panel, string, IconName])[] = [
  ["people", "People", "people"],
  ["approvals", "Approvals", "check"],
  ["graph", "Processes", "tree"],
  ["log", "Logbook", "book"],
];

function Tabs({ model }: { readonly model: SessionModel }) {
  const people = new Set(model.presence.value?.present.map((one) => one.actor)).size;
  const counts: Partial<Record<Panel, number>> = {
    people,
    approvals: model.pending.value.length,
  };
  return (
    <nav class="tabs" aria-label="Panels">
      {TABS.map(([name, label, icon]) => (
        <button
          key={name}
          type="button"
          class={`tab${name === "approvals" && model.pending.value.length > 0 ? " urgent" : ""}`}
          data-panel={name}
          aria-pressed={panel.value === name}
          onClick={() => {
            panel.value = panel.value === name ? null : name;
          }}
        >
          <Icon name={icon} /> <span class="tab-label">{label}</span>
          {(counts[name] ?? 0) > 0 && <b class="count">{counts[name]}</b>}
        </button>
      ))}
    </nav>
  );
}
