/** What the terminal shows, as plain text: a phone selects and copies it by its own means. */

import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icons.js";
import { say } from "./state.js";

export function SelectText(props: { readonly text: string; readonly closed: () => void }) {
  const place = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const { current } = place;
    current?.scrollTo(0, current.scrollHeight);
    current?.focus();
  }, []);
  const copy = async (): Promise<void> => {
    const selected = getSelection()?.toString() ?? "";
    await copyText(selected === "" ? props.text : selected);
  };
  return (
    <section
      class="select-text"
      aria-label="The terminal as text"
      onKeyDown={(event) => event.key === "Escape" && props.closed()}
    >
      <header class="panel-head">
        <h2>Select and copy</h2>
        <span class="strip-buttons">
          <button type="button" class="primary" onClick={() => void copy()}>
            <Icon name="copy" /> Copy
          </button>
          <button type="button" class="square quiet" aria-label="Close" onClick={props.closed}>
            <Icon name="close" />
          </button>
        </span>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it */}
      <pre ref={place} tabIndex={0}>
        {props.text}
      </pre>
    </section>
  );
}

/** Put a text on the clipboard, and say so. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  } catch {
    say("The browser does not allow writing to the clipboard.", "bad");
  }
}
