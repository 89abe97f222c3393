/** What a new session is to be: its name, its command, its folder; all may be left out. */

import { useState } from "preact/hooks";
import { commandWords } from "../app/command-words.js";
import { recentFolders } from "../app/recent-folders.js";
import { shown, shownName } from "../app/shown-text.js";
import type { Creation } from "../protocol/api.js";
import { closeAround, Dialog } from "./dialog.js";
import type { HostModel } from "./list-model.js";
import { foldersOf, keepFolder } from "./preferences.js";
import { show } from "./route.js";
import { Buttons } from "./session-dialogs.js";

const SIZE = { columns: 80, rows: 24 };

export function NewSession(props: { readonly model: HostModel; readonly closed: () => void }) {
  const { model } = props;
  const { host } = model.list.value;
  const [why, setWhy] = useState("");
  const [isBusy, setBusy] = useState(false);
  const infos = (model.list.value.sessions ?? []).map((one) => one.info);
  const begin = async (form: HTMLFormElement): Promise<void> => {
    setBusy(true);
    try {
      const wish = wished(form);
      const made = await model.link.create(wish);
      keepFolder(host.id, wish.cwd ?? "");
      closeAround(form);
      show({ is: "session", host: host.id, session: made.id });
    } catch (error) {
      setWhy(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`New session on ${shownName(host.name)}`} closed={props.closed}>
      <form
        class="asked"
        onSubmit={(event) => {
          event.preventDefault();
          void begin(event.currentTarget);
        }}
      >
        <Field id="name" label="Name" hint="chosen by the host" most={64} isFirst />
        <Field id="command" label="Command" hint="your shell" most={1024} />
        <Field id="cwd" label="Folder" hint="your home" most={1024} list="folders" />
        <datalist id="folders">
          {recentFolders(foldersOf(host.id), infos).map((folder) => (
            <option key={folder} value={folder} />
          ))}
        </datalist>
        <label class="ticked">
          <input type="checkbox" name="capsule" />
          <span>
            In a capsule <small>isolated; it can be saved to disk and restored</small>
          </span>
        </label>
        {why !== "" && (
          <p class="bad-word" role="alert">
            {shown(why)}
          </p>
        )}
        <Buttons label={isBusy ? "Starting…" : "Start"} isBusy={isBusy} />
      </form>
    </Dialog>
  );
}

function wished(form: HTMLFormElement): Creation {
  const said = new FormData(form);
  const text = (name: string): string => String(said.get(name) ?? "").trim();
  const command = commandWords(text("command"));
  return {
    size: SIZE,
    ...(text("name") === "" ? {} : { name: text("name") }),
    ...(command.length === 0 ? {} : { command }),
    ...(text("cwd") === "" ? {} : { cwd: text("cwd") }),
    ...(said.has("capsule") ? { runtime: "capsule" as const } : {}),
  };
}

function Field(props: {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly most: number;
  readonly list?: string;
  readonly isFirst?: boolean;
}) {
  return (
    <>
      <label for={`new-${props.id}`}>{props.label}</label>
      <input
        id={`new-${props.id}`}
        name={props.id}
        type="text"
        placeholder={props.hint}
        maxLength={props.most}
        list={props.list}
        data-first={props.isFirst}
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
      />
    </>
  );
}
