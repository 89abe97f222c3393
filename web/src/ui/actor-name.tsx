import { actorColour } from "../app/actor-colour.js";

/** An operator's name in the operator's colour. */
export function ActorName(props: { readonly actor: string; readonly name: string }) {
  return <b class={`actor hue-${actorColour(props.actor)}`}>{props.name}</b>;
}
