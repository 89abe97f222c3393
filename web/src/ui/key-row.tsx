/** The keys that phone keyboards lack, and those that a person has added. */

import { useState } from "preact/hooks";
import { KEY_ROW } from "../app/keys.js";
import { sentBy } from "../app/own-keys.js";
import { KeysDialog } from "./keys-dialog.js";
import { ownKeys } from "./preferences.js";
import type { SessionModel } from "./session-model.js";
import { say } from "./state.js";

export function KeyRow({ model }: { readonly model: SessionModel }) {
  const [isEdited, setEdited] = useState(false);
  const isDown = model.isControlDown.value;
  // The press must not take the focus, or the phone hides its keyboard.
  const keepFocus = (event: Event): void => event.preventDefault();
  return (
    <>
      <div class="key-row" role="toolbar" aria-label="Keys" onPointerDown={keepFocus}>
        <button
          type="button"
          class={`key${isDown ? " down" : ""}`}
          aria-pressed={isDown}
          aria-label="Ctrl, for the next key"
          onClick={() => {
            model.isControlDown.value = !isDown;
          }}
        >
          Ctrl
        </button>
        {KEY_ROW.map((key) => (
          <button
            key={key.name}
            type="button"
            class="key"
            aria-label={key.name}
            onClick={() => model.press(key)}
          >
            {key.label}
          </button>
        ))}
        {ownKeys.value.map((key, at) => (
          <button
            key={`${at} ${key.label}`}
            type="button"
            class="key own"
            onClick={() => model.press({ ...key, name: key.label, sends: sentBy(key.sends) ?? "" })}
          >
            {key.label}
          </button>
        ))}
        <button type="button" class="key" onClick={() => void paste(model)}>
          Paste
        </button>
        <button type="button" class="key" aria-label="Own keys" onClick={() => setEdited(true)}>
          +
        </button>
      </div>
      {isEdited && <KeysDialog closed={() => setEdited(false)} />}
    </>
  );
}

async function paste(model: SessionModel): Promise<void> {
  try {
    model.paste(await navigator.clipboard.readText());
  } catch {
    say("The browser does not allow reading the clipboard.", "bad");
  }
}
