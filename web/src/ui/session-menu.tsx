/** Everything about a session that does not stand in its header. */

import { useState } from "preact/hooks";
import { shownName } from "../app/shown-text.js";
import { Icon } from "./icons.js";
import { MenuButton, type MenuItem } from "./menu.js";
import { panelItems } from "./panel-tabs.js";
import { changeFont, isDark, nextTheme } from "./preferences.js";
import { isSearching } from "./search-bar.js";
import { EndDialog, RenameDialog } from "./session-dialogs.js";
import type { SessionModel } from "./session-model.js";
import { attempt, hasTabs, isNarrow, isSelecting, page, say } from "./state.js";

export function SessionMenu({ model }: { readonly model: SessionModel }) {
  const [asks, setAsks] = useState<"rename" | "end" | null>(null);
  const [isKept, setKept] = useState(false);
  const host = page.value?.link(model.link.host);
  const name = shownName(model.name.value);
  const isLive = model.state.value.is === "live";
  const mayEnd = model.may("end");
  const look = async (): Promise<void> => {
    const found = await host?.sessions().catch(() => []);
    setKept(found?.find((one) => one.id === model.link.session)?.keep ?? false);
  };
  const keep = async (): Promise<void> => {
    const asked = host?.keep(model.link.session, !isKept);
    if (asked !== undefined && (await attempt(asked.then(() => true))) !== null) {
      say(isKept ? `${name} is not kept.` : `${name} stays listed after its end.`);
    }
  };
  const items: MenuItem[] = [
    ...(hasTabs.value ? [] : panelItems(model)),
    ...finding(),
    { label: "Rename…", isApart: true, isOff: !mayEnd, act: () => setAsks("rename") },
    {
      label: isKept ? "Do not keep it after its end" : "Keep it after its end",
      isOff: !mayEnd,
      act: () => void keep(),
    },
    {
      label: "Freeze",
      isOff: !isLive || model.isFrozen.value || !model.may("seize"),
      act: () => void model.doing(model.link.freeze()),
    },
    {
      label: "End…",
      tone: "danger",
      isOff: !isLive || !mayEnd,
      act: () => setAsks("end"),
    },
    ...appearance(),
  ];
  return (
    <>
      <MenuButton label="More" items={items} opened={() => void look()}>
        <Icon name="more" />
      </MenuButton>
      {asks === "rename" && <RenameDialog model={model} closed={() => setAsks(null)} />}
      {asks === "end" && <EndDialog model={model} closed={() => setAsks(null)} />}
    </>
  );
}

function finding(): readonly MenuItem[] {
  const find: MenuItem = {
    label: "Find",
    icon: "search",
    isApart: true,
    act: () => {
      isSearching.value = true;
    },
  };
  const select: MenuItem = {
    label: "Select and copy",
    icon: "copy",
    act: () => {
      isSelecting.value = true;
    },
  };
  return isNarrow.value ? [find, select] : [{ ...select, isApart: true }];
}

function appearance(): readonly MenuItem[] {
  return [
    { label: "Larger text", isApart: true, stays: true, act: () => changeFont(1) },
    { label: "Smaller text", stays: true, act: () => changeFont(-1) },
    { label: isDark.value ? "Light colours" : "Dark colours", stays: true, act: nextTheme },
  ];
}
