/**
 * Where the focus goes when the element that had it is gone.
 *
 * A browser drops it, and a keyboard user starts again at the top of the page. So
 * an element that can vanish hands it on: to the panel if one is open, else to the
 * terminal, else to the header. On a phone never to the terminal, which would open
 * the keyboard.
 */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isNarrow } from "./state.js";

const PANEL = ".panel-body";
const TERMINAL = ".xterm-helper-textarea";
const HEAD = ".session-bar a";

/** Give the focus to the first of the places that exists. */
export function passFocusOn(): void {
  const places = isNarrow.peek() ? [PANEL, HEAD] : [PANEL, TERMINAL, HEAD];
  const found = places.map((one) => document.querySelector<HTMLElement>(one));
  found.find((one) => one !== null)?.focus();
}

/** Give the focus to the terminal, if there is one. */
export function focusTerminal(): void {
  document.querySelector<HTMLElement>(TERMINAL)?.focus();
}

/** For an element that may vanish while something in it has the focus. */
export function useFocusPassedOn<Element extends HTMLElement>(): RefObject<Element | null> {
  const element = useRef<Element>(null);
  useLayoutEffect(
    () => () => {
      if (element.current?.contains(document.activeElement)) {
        // Only when it is gone: until then it would only be taken away again.
        queueMicrotask(passFocusOn);
      }
    },
    [],
  );
  return element;
}
