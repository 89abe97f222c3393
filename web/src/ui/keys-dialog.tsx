/** The person's own keys of the key row: kept in this browser, and nowhere else. */

import { useState } from "preact/hooks";
import { MAX_LABEL, MAX_OWN_KEYS, MAX_SENDS, sentBy } from "../app/own-keys.js";
import { closeAround, Dialog } from "./dialog.js";
import { Icon } from "./icons.js";
import { ownKeys } from "./preferences.js";

export function KeysDialog({ closed }: { readonly closed: () => void }) {
  const [why, setWhy] = useState("");
  const isFull = ownKeys.value.length >= MAX_OWN_KEYS;
  const add = (event: Event): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const said = new FormData(form);
    const sends = String(said.get("sends") ?? "");
    const label = String(said.get("label") ?? "").trim() || sends.slice(0, MAX_LABEL);
    if (sentBy(sends) === null) {
      setWhy("Write ^R for Ctrl R, \\e for Escape, \\t, \\r, \\\\, or \\x1b for a byte.");
      return;
    }
    ownKeys.value = [...ownKeys.value, { label, sends }];
    setWhy("");
    form.reset();
  };
  return (
    <Dialog title="Your own keys" closed={closed}>
      <ul class="own-keys">
        {ownKeys.value.map((key, at) => (
          <li key={`${at} ${key.label}`}>
            <b>{key.label}</b> <code class="grow">{key.sends}</code>
            <button
              type="button"
              class="quiet square"
              aria-label={`Remove ${key.label}`}
              onClick={() => {
                ownKeys.value = ownKeys.value.filter((_, other) => other !== at);
              }}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      <form class="asked" onSubmit={add}>
        <label for="key-sends">Sends, for example ^R, \e[Z or git status\r</label>
        <input
          id="key-sends"
          name="sends"
          type="text"
          required
          data-first
          maxLength={MAX_SENDS}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
        />
        <label for="key-label">Label</label>
        <input
          id="key-label"
          name="label"
          type="text"
          maxLength={MAX_LABEL}
          autocomplete="off"
          autocapitalize="none"
        />
        {why !== "" && (
          <p class="bad-word" role="alert">
            {why}
          </p>
        )}
        <div class="approval-buttons">
          <button type="submit" class="primary" disabled={isFull}>
            Add
          </button>
          <button type="button" onClick={(event) => closeAround(event.currentTarget)}>
            Done
          </button>
        </div>
      </form>
    </Dialog>
  );
}
