/** What comes with the turn, and who asks for it: shown where it cannot be missed. */

import { shown, shownKeys } from "../app/shown-text.js";
import { Actor } from "./actor-name.js";
import { useFocusPassedOn } from "./focus.js";
import type { SessionModel } from "./session-model.js";

export function HandOver({ model }: { readonly model: SessionModel }) {
  const hasTurn = model.view.value?.hasTurn ?? false;
  return (
    <>
      {hasTurn &&
        model.askers.value.map(({ actor }) => <Asker key={actor} model={model} actor={actor} />)}
      {model.isHeir.value && <Inherited model={model} />}
    </>
  );
}

function Asker({ model, actor }: { readonly model: SessionModel; readonly actor: string }) {
  const strip = useFocusPassedOn<HTMLParagraphElement>();
  return (
    <p class="strip ask" role="alert" ref={strip}>
      <span>
        <Actor model={model} actor={actor} /> asks for the turn.
      </span>
      <span class="strip-buttons">
        <button type="button" class="primary" onClick={() => void model.reply(actor, true)}>
          Give
        </button>
        <button type="button" onClick={() => void model.reply(actor, false)}>
          Not now
        </button>
      </span>
    </p>
  );
}

function Inherited({ model }: { readonly model: SessionModel }) {
  const strip = useFocusPassedOn<HTMLDivElement>();
  const found = model.inherited.value;
  if (found === null) {
    return null;
  }
  return (
    <div class="strip inherited" role="status" ref={strip}>
      <span>
        You take over{" "}
        {found.staged.length > 0 && (
          <>
            an unsubmitted line, <code>{shownKeys(found.staged)}</code>, typed by{" "}
            {found.by.map(model.nameOf).join(", ") || "unknown"}
          </>
        )}
        {found.staged.length > 0 && found.changed.length > 0 && "; "}
        {found.changed.length > 0 && (
          <>
            what others changed:{" "}
            {found.changed
              .slice(0, 4)
              .map(
                (one) =>
                  `${one.what} ${shown(one.name, 40)} (${one.by.map(model.nameOf).join(", ")})`,
              )
              .join(", ")}
          </>
        )}
        .
      </span>
      <button
        type="button"
        onClick={() => {
          model.inherited.value = null;
        }}
      >
        I have seen it
      </button>
    </div>
  );
}
