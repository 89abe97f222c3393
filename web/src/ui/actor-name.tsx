/** An operator's name in the operator's colour, with a sign for what is no human. */

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

/** Somebody as the people of a session call them. */
export function Actor(props: { readonly model: SessionModel; readonly actor: string }) {
  const { model, actor } = props;
  return <ActorName actor={actor} name={model.nameOf(actor)} kind={model.kindOf(actor)} />;
}
