/** The questions about a session: another name for it, and its end. */

import { useState } from "preact/hooks";
import { shown, shownName } from "../app/shown-text.js";
import { closeAround, Dialog } from "./dialog.js";
import type { SessionModel } from "./session-model.js";
import { attempt, page } from "./state.js";

const SIGHUP = 1;
const SIGKILL = 9;

interface Asked {
  readonly model: SessionModel;
  readonly closed: () => void;
}

export function RenameDialog({ model, closed }: Asked) {
  const [why, setWhy] = useState("");
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const name = String(new FormData(form).get("name") ?? "").trim();
    try {
      await page.value?.link(model.link.host).rename(model.link.session, name);
      model.renamed.value = name;
      closeAround(form);
    } catch (error) {
      setWhy(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Dialog title={`Rename ${shownName(model.name.value)}`} closed={closed}>
      <form class="asked" onSubmit={(event) => void submit(event)}>
        <label for="new-name">Name</label>
        <input
          id="new-name"
          name="name"
          type="text"
          data-first
          required
          maxLength={64}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          defaultValue={model.name.value}
        />
        {why !== "" && (
          <p class="bad-word" role="alert">
            {shown(why)}
          </p>
        )}
        <Buttons label="Rename" />
      </form>
    </Dialog>
  );
}

export function EndDialog({ model, closed }: Asked) {
  const end = (signal: number, pressed: HTMLElement): void => {
    closeAround(pressed);
    void attempt(model.link.end(signal));
  };
  return (
    <Dialog title={`End ${shownName(model.name.value)}?`} closed={closed}>
      <p>Its program gets a signal to end, and its terminal closes. This cannot be undone.</p>
      <div class="approval-buttons">
        <button type="button" class="danger" onClick={(event) => end(SIGHUP, event.currentTarget)}>
          End it
        </button>
        <button
          type="button"
          class="danger"
          title="For a program that does not end otherwise"
          onClick={(event) => end(SIGKILL, event.currentTarget)}
        >
          Kill it
        </button>
        <button type="button" data-first onClick={(event) => closeAround(event.currentTarget)}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

/** The buttons below a form: what it does, and nothing. */
export function Buttons(props: { readonly label: string; readonly isBusy?: boolean }) {
  return (
    <div class="approval-buttons">
      <button type="submit" class="primary" disabled={props.isBusy}>
        {props.label}
      </button>
      <button type="button" onClick={(event) => closeAround(event.currentTarget)}>
        Cancel
      </button>
    </div>
  );
}
