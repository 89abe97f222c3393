/** The terminal's pane: loads it, draws on it, and keeps its size right. */

import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { shown } from "../app/shown-text.js";
import { amount } from "../app/words.js";
import { fontSize, isDark } from "./preferences.js";
import { isSearching, SearchBar } from "./search-bar.js";
import { SelectText } from "./select-text.js";
import type { SessionModel } from "./session-model.js";
import { isNarrow, isSelecting, linkToOpen, say } from "./state.js";
import type { Screen } from "./terminal.js";

export function TerminalPane({ model }: { readonly model: SessionModel }) {
  const place = useRef<HTMLDivElement>(null);
  const [screen, setScreen] = useState<Screen | null>(null);
  useEffect(() => {
    let made: Screen | null = null;
    let isGone = false;
    void import("./terminal.js").then(
      ({ Screen }) => {
        if (isGone || place.current === null) {
          return;
        }
        made = new Screen(place.current, hearing(model), isDark.value, fontSize.value);
        model.show(made);
        setScreen(made);
      },
      () => say("The terminal could not be loaded. Reload the page.", "bad"),
    );
    return () => {
      isGone = true;
      stopSelecting();
      made?.close();
    };
  }, [model]);
  useEffect(() => (screen === null ? undefined : tended(model, screen, place.current)), [screen]);
  return (
    <div class="terminal-frame">
      <div class="screen" ref={place} data-painted={model.isPainted.value} />
      {!model.isPainted.value && model.state.value.is !== "waiting" && (
        <p class="veil" role="status">
          <i class="spinner" /> Opening the session…
        </p>
      )}
      {model.missed.value > 0 && (
        <p class="gap-note">{amount(model.missed.value)} of output were skipped.</p>
      )}
      {screen !== null && <SearchBar screen={screen} />}
      {screen !== null && isSelecting.value && (
        <SelectText text={screen.text()} closed={stopSelecting} />
      )}
    </div>
  );
}

function stopSelecting(): void {
  isSelecting.value = false;
}

function hearing(model: SessionModel) {
  return {
    typed: (data: string) => model.typed(data),
    titled: (title: string) => {
      model.title.value = shown(title, 80);
    },
    left: () => document.querySelector<HTMLElement>(".session-bar a")?.focus(),
    searched: () => {
      isSearching.value = true;
    },
    linked: (link: URL) => {
      linkToOpen.value = link;
    },
    held: () => {
      isSelecting.value = true;
    },
  };
}

/** Keep size, font and colours right until the pane goes. */
function tended(model: SessionModel, screen: Screen, place: HTMLElement | null): () => void {
  const arrange = (): void => {
    const isOurs = model.view.peek()?.hasTurn ?? false;
    model.wish(screen.arrange(isOurs, fontSize.peek()));
  };
  const watcher = new ResizeObserver(arrange);
  if (place !== null) {
    watcher.observe(place);
  }
  const endings = [
    effect(() => screen.dress(isDark.value)),
    effect(() => {
      fontSize.value;
      model.view.value?.hasTurn;
      arrange();
    }),
  ];
  if (!isNarrow.peek()) {
    screen.focus(); // On a phone this would open the keyboard over half the screen.
  }
  return () => {
    watcher.disconnect();
    endings.forEach((end) => end());
  };
}
