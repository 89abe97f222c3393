/** The header of a session: its name and state, the turn, and what opens the rest. */

import { shown, shownName } from "../app/shown-text.js";
import { Actor } from "./actor-name.js";
import { Icon } from "./icons.js";
import { PanelTabs } from "./panel-tabs.js";
import { isSearching } from "./search-bar.js";
import { SessionMenu } from "./session-menu.js";
import type { SessionModel } from "./session-model.js";
import { hasTabs, isNarrow } from "./state.js";
import { Reconstructed, StateChip } from "./state-chip.js";
import { TurnButtons } from "./turn-buttons.js";

export function SessionHeader({ model }: { readonly model: SessionModel }) {
  const view = model.view.value;
  return (
    <header class="bar session-bar">
      <a class="quiet square button" href="#/" aria-label="All sessions">
        <Icon name="back" />
      </a>
      <div class="heading">
        <div class="title">
          <h1 title={shownName(model.name.value)}>
            {view === null ? "…" : shownName(model.name.value)}
          </h1>
          {view !== null && (
            <span class="doing" aria-live="polite">
              <StateChip
                state={model.does.value}
                program={model.isFrozen.value ? "" : model.evidence.value?.program}
                why={model.evidence.value?.why ?? []}
              />
              {model.isReconstructed.value && <Reconstructed />}
              {model.call.value !== null && (
                <span class="chip tone-needs" title={shown(model.call.value)}>
                  calls you
                </span>
              )}
            </span>
          )}
          {model.title.value !== "" && <small>{model.title.value}</small>}
        </div>
        <Turn model={model} />
      </div>
      <TurnButtons model={model} />
      {hasTabs.value && <PanelTabs model={model} />}
      {!isNarrow.value && <Find />}
      <SessionMenu model={model} />
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
        <i class="dot" /> <span class="turn-text">You have the turn</span>
      </span>
    );
  }
  return view.holder === "" ? (
    <span class="turn free" aria-live="polite">
      <i class="dot" />{" "}
      <span class="turn-text">
        The turn is free{model.isFrozen.value || isNarrow.value ? "" : ": type to take it"}
      </span>
    </span>
  ) : (
    <span
      class="turn theirs"
      aria-live="polite"
      title={`${shownName(model.nameOf(view.holder))} has the turn`}
    >
      <i class="dot" />
      <span class="turn-text">
        <Actor model={model} actor={view.holder} /> <span class="whole">has the turn</span>
      </span>
    </span>
  );
}

function Find() {
  return (
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
  );
}
