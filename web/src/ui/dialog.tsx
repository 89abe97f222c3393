/** A modal question: the browser's own dialog traps the focus, and gives it back. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export function Dialog(props: {
  readonly title: string;
  readonly closed: () => void;
  readonly children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLElement>("[data-first]")?.focus();
  }, []);
  return (
    <dialog
      class="dialog"
      ref={dialog}
      aria-labelledby="dialog-title"
      onClose={props.closed}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <h2 id="dialog-title">{props.title}</h2>
      {props.children}
    </dialog>
  );
}

/** Close the dialog around an element; what it was opened for is told by `closed`. */
export function closeAround(element: Element | null): void {
  element?.closest("dialog")?.close();
}
