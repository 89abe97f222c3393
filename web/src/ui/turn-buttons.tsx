/** The actions on the turn. Seize is one press away while another operator has it. */

import { useFocusPassedOn } from "./focus.js";
import { Seize } from "./seize.js";
import type { SessionModel } from "./session-model.js";

export function TurnButtons({ model }: { readonly model: SessionModel }) {
  const view = model.view.value;
  const isLive = model.state.value.is === "live";
  if (view === null) {
    return <span class="turn-buttons" />;
  }
  const { link } = model;
  const mayTake = isLive && model.may("take");
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot stand in a line
    <span class="turn-buttons" role="group" aria-label="The turn">
      {!view.hasTurn && view.holder === "" && (
        <Choice label="Take" isOff={!mayTake} act={() => model.doing(link.take())} />
      )}
      {!view.hasTurn && view.holder !== "" && (
        <Choice
          label={model.isAsking.value ? "Asked…" : "Ask"}
          isOff={!mayTake || model.isAsking.value}
          act={() => model.ask()}
        />
      )}
      {view.hasTurn && <Choice label="Drop" isOff={!isLive} act={() => model.doing(link.drop())} />}
      {!view.hasTurn && view.holder !== "" && model.may("seize") && (
        <Seize model={model} isLive={isLive} />
      )}
    </span>
  );
}

/** It disappears after use, and the person who pressed it wants to type next. */
function Choice(props: {
  readonly label: string;
  readonly isOff: boolean;
  readonly act: () => Promise<void>;
}) {
  const button = useFocusPassedOn<HTMLButtonElement>();
  return (
    <button type="button" ref={button} disabled={props.isOff} onClick={() => void props.act()}>
      {props.label}
    </button>
  );
}
