/** What comes with the turn, and who asks for it: shown where it cannot be missed. */

import { shown, shownKeys } from "../app/shown-text.js";
import { ActorName } from "./actor-name.js";
import type { SessionModel } from "./session-model.js";

export function HandOver({ model }: { readonly model: SessionModel }) {
  const hasTurn = model.view.value?.hasTurn ?? false;
  return (
    <>
      {hasTurn &&
        model.askers.value.map((asker) => (
          <p key={asker.actor} class="strip ask" role="alert">
            <span>
              <ActorName actor={asker.actor} name={model.nameOf(asker.actor)} /> asks for the turn.
            </span>
            <button type="button" class="primary" onClick={() => void model.reply(asker.actor, true)}>
              Give
            </button>
            <button type="button" onClick={() => void model.reply(asker.actor, false)}>
              Not now
            </button>
          </p>
        ))}
      <Inherited model={model} />
    </>
  );
}

function Inherited({ model }: { readonly model: SessionModel }) {
  const found = model.inherited.value;
  if (found === null || (found.staged.length === 0 && found.changed.length === 0)) {
    return null;
  }
  return (
    <div class="strip inherited" role="status">
      <span>
        You take over{" "}
        {found.staged.length > 0 && (
          <>
            a line that is not entered, <code>{shownKeys(found.staged)}</code>, typed by{" "}
            {found.by.map(model.nameOf).join(", ") || "somebody"}
          </>
        )}
        {found.staged.length > 0 && found.changed.length > 0 && "; "}
        {found.changed.length > 0 && (
          <>
            what others changed:{" "}
            {found.changed
              .slice(0, 4)
              .map((one) => `${one.what} ${shown(one.name, 40)} (${one.by.map(model.nameOf).join(", ")})`)
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
