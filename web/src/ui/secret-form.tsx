import { useState } from "preact/hooks";
import { useFocusPassedOn } from "./focus.js";
import type { SessionModel } from "./session-model.js";
import { attempt } from "./state.js";

/** Shown while a program asks for a secret: it is sent, and stored nowhere. */
export function SecretForm({ model }: { readonly model: SessionModel }) {
  const isAsked = model.does.value === "waiting-for-secret";
  return isAsked && model.view.value?.mayWrite ? <Form model={model} /> : null;
}

function Form({ model }: { readonly model: SessionModel }) {
  const form = useFocusPassedOn<HTMLFormElement>();
  const [secret, setSecret] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    void attempt(model.link.answer(secret));
    setSecret("");
  };
  return (
    <form class="strip secret" ref={form} onSubmit={submit}>
      <label for="secret">A program asks for a secret</label>
      <input
        id="secret"
        type="password"
        autocomplete="off"
        value={secret}
        onInput={(event) => setSecret(event.currentTarget.value)}
      />
      <button type="submit" class="primary">
        Send
      </button>
    </form>
  );
}
