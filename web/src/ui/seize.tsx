/** The button that seizes the turn, and the menu of its variants. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.js";
import type { SessionModel } from "./session-model.js";

export function Seize({
  model,
  isLive,
}: {
  readonly model: SessionModel;
  readonly isLive: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const place = useRef<HTMLSpanElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const close = (event: Event): void => {
      if (!place.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    addEventListener("pointerdown", close);
    return () => removeEventListener("pointerdown", close);
  }, []);
  const close = (): void => {
    opener.current?.focus();
    setOpen(false);
  };
  const isAllowed = isLive && model.may("seize");
  return (
    <span class="split" ref={place}>
      <button
        type="button"
        class="danger"
        disabled={!isAllowed}
        title="Take the turn at once, even from another operator"
        onClick={() => void model.doing(model.link.seize("none"))}
      >
        Seize
      </button>
      <button
        type="button"
        class="danger more"
        ref={opener}
        disabled={!isAllowed}
        aria-label="More ways to seize"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="down" />
      </button>
      {isOpen && <Menu model={model} close={close} />}
    </span>
  );
}

function Menu({ model, close }: { readonly model: SessionModel; readonly close: () => void }) {
  const menu = useRef<HTMLSpanElement>(null);
  const items = (): HTMLElement[] => [...(menu.current?.querySelectorAll("button") ?? [])];
  useEffect(() => items()[0]?.focus(), []);
  const move = (event: KeyboardEvent): void => {
    const all = items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: -1,
    };
    const next = steps[event.key];
    if (next !== undefined) {
      event.preventDefault();
      all.at(next % all.length)?.focus();
    } else if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      close();
    }
  };
  const item = (label: string, act: () => Promise<void>) => (
    <button
      type="button"
      role="menuitem"
      onClick={() => {
        close();
        void act();
      }}
    >
      {label}
    </button>
  );
  const { link } = model;
  return (
    <span class="menu" role="menu" ref={menu} onKeyDown={move}>
      {item("Seize and freeze", () => model.doing(link.seize("freeze")))}
      {item("Seize and interrupt", () => model.doing(link.seize("interrupt")))}
      {!model.isFrozen.value && item("Freeze without the turn", () => model.doing(link.freeze()))}
    </span>
  );
}
