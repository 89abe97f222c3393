/**
 * A field to write in before anything is sent.
 *
 * A phone's keyboard corrects, completes and takes dictation by changing what was
 * written already. A terminal has taken those letters, and gets them twice. Here
 * they change in the field, and what is in it goes once.
 */

import { useRef } from "preact/hooks";
import type { SessionModel } from "./session-model.js";

export function Compose({ model }: { readonly model: SessionModel }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const send = (isEntered: boolean): void => {
    const { current } = field;
    if (current !== null && model.compose(current.value, isEntered)) {
      current.value = "";
      fitHeight(current);
    }
  };
  const keyed = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      send(true);
    }
  };
  // The press must not take the focus, or the phone hides its keyboard.
  const keepFocus = (event: Event): void => event.preventDefault();
  return (
    <form
      class="compose"
      onSubmit={(event) => {
        event.preventDefault();
        send(true);
      }}
    >
      <textarea
        ref={field}
        rows={1}
        aria-label="Text to send"
        placeholder="Write, then Send"
        autocapitalize="none"
        enterkeyhint="send"
        onInput={(event) => fitHeight(event.currentTarget)}
        onKeyDown={keyed}
      />
      <button
        type="button"
        class="quiet"
        title="Send it without Return"
        onPointerDown={keepFocus}
        onClick={() => send(false)}
      >
        Type
      </button>
      <button type="submit" class="primary" onPointerDown={keepFocus}>
        Send
      </button>
    </form>
  );
}

/** As high as what is in it, up to what the style sheet allows. */
function fitHeight(field: HTMLTextAreaElement): void {
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}
