/** Everything about a session that does not stand in its header. */

import { useState } from "preact/hooks";
import { shownName } from "../app/shown-text.js";
import { CheckpointDialog } from "./checkpoint-dialog.js";
import { DiscardDialog, ForkDialog } from "./fork-dialogs.js";
import { Icon } from "./icons.js";
import { ImagesDialog } from "./images-dialog.js";
import { MenuButton, type MenuItem } from "./menu.js";
import { panelItems } from "./panel-tabs.js";
import { changeFont, isDark, nextTheme } from "./preferences.js";
import { isSearching } from "./search-bar.js";
import { EndDialog, RenameDialog } from "./session-dialogs.js";
import type { SessionModel } from "./session-model.js";
import { attempt, hasTabs, isNarrow, isSelecting, page, say } from "./state.js";

type Question = "rename" | "end" | "checkpoint" | "images" | "fork" | "discard";

export function SessionMenu({ model }: { readonly model: SessionModel }) {
  const [asks, setAsks] = useState<Question | null>(null);
  const [isKept, setKept] = useState(false);
  const [isBranch, setBranch] = useState(false);
  const host = page.value?.link(model.link.host);
  const name = shownName(model.name.value);
  const isLive = model.state.value.is === "live";
  const mayEnd = model.may("end");
  const mayImage = model.may("checkpoint");
  const mayCreate = host?.host.rights.includes("create") && host.host.session === "";
  const look = async (): Promise<void> => {
    const found = await host?.sessions().catch(() => []);
    const info = found?.find((one) => one.id === model.link.session);
    setKept(info?.keep ?? false);
    setBranch((info?.parent ?? null) !== null);
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
    ...(mayImage
      ? [
          {
            label: "Checkpoint…",
            isApart: true,
            isOff: !isLive || model.isFrozen.value,
            act: () => setAsks("checkpoint"),
          },
          { label: "Images…", act: () => setAsks("images") },
        ]
      : []),
    ...(model.may("fork") && mayCreate
      ? [{ label: "Fork…", isOff: !isLive, act: () => setAsks("fork" as const) }]
      : []),
    ...(isBranch && mayEnd
      ? [{ label: "Discard…", isOff: !isLive, act: () => setAsks("discard" as const) }]
      : []),
    {
      label: "End…",
      isApart: true,
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
      {asks === "checkpoint" && (
        <CheckpointDialog
          model={model}
          closed={() => setAsks((now) => (now === "checkpoint" ? null : now))}
          showImages={() => setAsks("images")}
        />
      )}
      {asks === "fork" && host !== undefined && (
        <ForkDialog model={model} host={host} closed={() => setAsks(null)} />
      )}
      {asks === "discard" && host !== undefined && (
        <DiscardDialog model={model} host={host} closed={() => setAsks(null)} />
      )}
      {asks === "images" && host !== undefined && (
        <ImagesDialog
          host={host}
          session={model.link.session}
          closed={() => setAsks((now) => (now === "images" ? null : now))}
        />
      )}
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
