import { useState } from "preact/hooks";
import type { SessionModel } from "./session-model.js";
import { attempt } from "./state.js";

/** Shown while a program asks for a secret: it is sent, and nowhere written down. */
export function SecretForm({ model }: { readonly model: SessionModel }) {
  const view = model.view.value;
  const [secret, setSecret] = useState("");
  if (model.does.value !== "waiting-for-secret" || !view?.mayWrite) {
    return null;
  }
  const submit = (event: Event): void => {
    event.preventDefault();
    void attempt(model.link.answer(secret));
    setSecret("");
  };
  return (
    <form class="strip secret" onSubmit={submit}>
      <label for="secret">A program asks for a secret</label>
      <input
        id="secret"
        type="password"
        autocomplete="off"
        value={secret}
        onInput={(event) => setSecret(event.currentTarget.value)}
      />
      <button type="submit" class="primary">
        Send it
      </button>
    </form>
  );
}
