/** An operator's name in its colour, with an icon unless it is a human. */

import { actorColour } from "../app/actor-colour.js";
import { Icon, type IconName } from "./icons.js";
import type { SessionModel } from "./session-model.js";

const SIGNS: Readonly<Record<string, IconName>> = {
  agent: "agent",
  service: "service",
  device: "service",
};

export function ActorName(props: {
  readonly actor: string;
  readonly name: string;
  readonly kind: string;
}) {
  const sign = SIGNS[props.kind];
  return (
    <b class={`actor hue-${actorColour(props.actor)}`} title={props.kind || undefined}>
      {sign !== undefined && (
        <span class={`kind kind-${sign}`}>
          <Icon name={sign} />
        </span>
      )}
      <span class="actor-name">{props.name}</span>
    </b>
  );
}

/** An operator, by the name it has in a session. */
export function Actor(props: { readonly model: SessionModel; readonly actor: string }) {
  const { model, actor } = props;
  return <ActorName actor={actor} name={model.nameOf(actor)} kind={model.kindOf(actor)} />;
}
