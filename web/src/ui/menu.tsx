/** A button with a menu: arrow keys walk it, Escape leaves it, a press beside it closes it. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icons.js";

export interface MenuItem {
  readonly label: string;
  readonly act: () => void;
  readonly icon?: IconName;
  readonly count?: number;
  readonly isOff?: boolean;
  /** Whether the menu stays open, for what is pressed several times. */
  readonly stays?: boolean;
  /** Whether a line separates it from what is above. */
  readonly isApart?: boolean;
  readonly tone?: "danger" | "needs";
  /** The panel that it opens. */
  readonly panel?: string;
}

export function MenuButton(props: {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly children: ComponentChildren;
  readonly look?: string;
  readonly isOff?: boolean;
  readonly opened?: () => void;
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
  return (
    <span class="menu-place" ref={place}>
      <button
        type="button"
        class={props.look ?? "quiet square"}
        ref={opener}
        disabled={props.isOff}
        aria-label={props.label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => {
          props.opened?.();
          setOpen(!isOpen);
        }}
      >
        {props.children}
      </button>
      {isOpen && <Menu items={props.items} close={close} />}
    </span>
  );
}

function Menu(props: { readonly items: readonly MenuItem[]; readonly close: () => void }) {
  const menu = useRef<HTMLSpanElement>(null);
  const items = (): HTMLElement[] => [
    ...(menu.current?.querySelectorAll<HTMLElement>("button:not(:disabled)") ?? []),
  ];
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
      event.stopPropagation();
      props.close();
    }
  };
  return (
    <span class="menu" role="menu" ref={menu} onKeyDown={move}>
      {props.items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          class={`${item.isApart ? "apart " : ""}${item.tone ?? ""}`}
          disabled={item.isOff}
          data-panel={item.panel}
          onClick={() => {
            if (!item.stays) {
              props.close();
            }
            item.act();
          }}
        >
          {item.icon !== undefined && <Icon name={item.icon} />}
          <span class="grow">{item.label}</span>
          {(item.count ?? 0) > 0 && <b class="count">{item.count}</b>}
        </button>
      ))}
    </span>
  );
}
