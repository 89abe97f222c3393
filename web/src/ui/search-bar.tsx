import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.js";
import { say } from "./state.js";
import type { Screen } from "./terminal.js";

export const isSearching = signal(false);

/** Find text in the terminal. Enter searches back, Shift+Enter forward. */
export function SearchBar({ screen }: { readonly screen: Screen }) {
  const input = useRef<HTMLInputElement>(null);
  const [isMissing, setMissing] = useState(false);
  const [found, setFound] = useState<readonly [number, number]>([0, 0]);
  useEffect(() => screen.onFound((at, count) => setFound([at, count])), [screen]);
  useEffect(() => {
    if (isSearching.value) {
      input.current?.focus();
    }
  }, [isSearching.value]);
  if (!isSearching.value) {
    return null;
  }
  const close = (): void => {
    isSearching.value = false;
    screen.stopFinding();
    screen.focus();
  };
  const find = (isBackwards: boolean): void => {
    const text = input.current?.value ?? "";
    setMissing(text !== "" && !screen.find(text, isBackwards));
  };
  const keyed = (event: KeyboardEvent): void => {
    if (event.key === "Enter") {
      find(!event.shiftKey);
    } else if (event.key === "Escape") {
      close();
    }
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers of 2023 do not know <search>
    <div class="search" role="search">
      <input
        ref={input}
        type="text"
        aria-label="Find in the terminal"
        placeholder="Find"
        autocomplete="off"
        autocapitalize="none"
        class={isMissing ? "missing" : ""}
        onKeyDown={keyed}
      />
      <output class="found" aria-label="Matches">
        {isMissing ? "none" : found[1] > 0 ? `${found[0] || "?"} of ${found[1]}` : ""}
      </output>
      <button type="button" class="quiet" onClick={() => find(true)}>
        Back
      </button>
      <button type="button" class="quiet" onClick={() => find(false)}>
        On
      </button>
      <button type="button" class="quiet" onClick={() => void copy(screen)}>
        <Icon name="copy" /> Copy
      </button>
      <button type="button" class="quiet square" aria-label="Close the search" onClick={close}>
        <Icon name="close" />
      </button>
    </div>
  );
}

async function copy(screen: Screen): Promise<void> {
  const text = screen.selected();
  if (text === "") {
    say("Select some text first.");
    return;
  }
  await navigator.clipboard.writeText(text);
  say("Copied.");
}
