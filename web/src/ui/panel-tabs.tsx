/** What opens the panels: tabs where there is room, else items of the menu. */

import { Icon, type IconName } from "./icons.js";
import type { MenuItem } from "./menu.js";
import type { SessionModel } from "./session-model.js";
import { type Panel, panel } from "./state.js";

const TABS: readonly (readonly [Panel, string, IconName])[] = [
  ["people", "People", "people"],
  ["approvals", "Approvals", "check"],
  ["commands", "Commands", "prompt"],
  ["graph", "Processes", "tree"],
  ["log", "Logbook", "book"],
];

export function PanelTabs({ model }: { readonly model: SessionModel }) {
  const counts = countsOf(model);
  return (
    <nav class="tabs" aria-label="Panels">
      {TABS.map(([name, label, icon]) => (
        <button
          key={name}
          type="button"
          class={`tab${isUrgent(model, name) ? " urgent" : ""}`}
          data-panel={name}
          aria-pressed={panel.value === name}
          onClick={() => toggle(name)}
        >
          <Icon name={icon} /> <span class="tab-label">{label}</span>
          {(counts[name] ?? 0) > 0 && <b class="count">{counts[name]}</b>}
        </button>
      ))}
    </nav>
  );
}

/** The same as items of a menu. */
export function panelItems(model: SessionModel): readonly MenuItem[] {
  const counts = countsOf(model);
  return TABS.map(([name, label, icon]) => ({
    label,
    icon,
    panel: name,
    count: counts[name] ?? 0,
    ...(isUrgent(model, name) ? { tone: "needs" as const } : {}),
    act: () => toggle(name),
  }));
}

function toggle(name: Panel): void {
  panel.value = panel.value === name ? null : name;
}

function isUrgent(model: SessionModel, name: Panel): boolean {
  return name === "approvals" && model.pending.value.length > 0;
}

function countsOf(model: SessionModel): Partial<Record<Panel, number>> {
  return {
    people: new Set(model.presence.value?.present.map((one) => one.actor)).size,
    approvals: model.pending.value.length,
  };
}
