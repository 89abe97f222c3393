/** What can be done about the turn now. Seize is always there, one press away. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Icon } from "./icons.js";
import type { SessionModel } from "./session-model.js";

export function TurnButtons({ model }: { readonly model: SessionModel }) {
  const view = model.view.value;
  const isLive = model.state.value.is === "live";
  if (view === null) {
    return <span class="turn-buttons" />;
  }
  const { link } = model;
  return (
    <span class="turn-buttons" role="group" aria-label="The turn">
      {!view.hasTurn && view.holder === "" && (
        <button
          type="button"
          disabled={!isLive || !model.may("take")}
          onClick={() => void model.doing(link.take())}
        >
          Take
        </button>
      )}
      {!view.hasTurn && view.holder !== "" && (
        <button
          type="button"
          disabled={!isLive || model.isAsking.value || !model.may("take")}
          onClick={() => void model.ask()}
        >
          {model.isAsking.value ? "Asked…" : "Ask"}
        </button>
      )}
      {view.hasTurn && (
        <button type="button" disabled={!isLive} onClick={() => void model.doing(link.drop())}>
          Drop
        </button>
      )}
      <Seize model={model} isLive={isLive} />
    </span>
  );
}

function Seize({ model, isLive }: { readonly model: SessionModel; readonly isLive: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const menu = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const close = (event: Event): void => {
      if (!menu.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    addEventListener("pointerdown", close);
    return () => removeEventListener("pointerdown", close);
  }, []);
  const seize = (halt: "none" | "freeze" | "interrupt"): void => {
    setOpen(false);
    void model.doing(model.link.seize(halt));
  };
  const isAllowed = isLive && model.may("seize");
  return (
    <span class="split" ref={menu}>
      <button
        type="button"
        class="danger"
        disabled={!isAllowed}
        title="The turn is yours at once, whoever has it"
        onClick={() => seize("none")}
      >
        Seize
      </button>
      <button
        type="button"
        class="danger more"
        disabled={!isAllowed}
        aria-label="More ways to seize"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => event.key === "Escape" && setOpen(false)}
      >
        <Icon name="down" />
      </button>
      {isOpen && (
        <span class="menu" role="menu">
          <button type="button" role="menuitem" onClick={() => seize("freeze")}>
            Seize and freeze everything
          </button>
          <button type="button" role="menuitem" onClick={() => seize("interrupt")}>
            Seize and interrupt
          </button>
          {!model.isFrozen.value && (
            <button
              type="button"
              role="menuitem"
              onClick={() => {
                setOpen(false);
                void model.doing(model.link.freeze());
              }}
            >
              Freeze, without the turn
            </button>
          )}
        </span>
      )}
    </span>
  );
}
