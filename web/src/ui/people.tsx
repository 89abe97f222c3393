/** Who is attached, who waits for the turn, and whom it can be given to. */

import { useEffect } from "preact/hooks";
import { shownName } from "../app/shown-text.js";
import { age } from "../app/words.js";
import type { Presence } from "../protocol/api.js";
import { ActorName } from "./actor-name.js";
import type { SessionModel } from "./session-model.js";

const LOOK_MS = 4000;

export function People({ model }: { readonly model: SessionModel }) {
  useEffect(() => {
    void model.refresh();
    const timer = setInterval(() => void model.refresh(), LOOK_MS);
    return () => clearInterval(timer);
  }, [model]);
  const presence = model.presence.value;
  if (presence === null) {
    return <p class="nothing">Loading…</p>;
  }
  const actors = new Map<string, Presence["present"][number][]>();
  for (const one of presence.present) {
    actors.set(one.actor, [...(actors.get(one.actor) ?? []), one]);
  }
  return (
    <>
      <ul class="people">
        {[...actors].map(([actor, links]) => (
          <Person key={actor} model={model} links={links} presence={presence} />
        ))}
      </ul>
      {presence.waiting.length > 0 && (
        <p class="detail">Waiting for the turn: {presence.waiting.map(model.nameOf).join(", ")}.</p>
      )}
      <p class="detail">
        Your rights: {presence.rights.length === 0 ? "none" : presence.rights.join(", ")}.
      </p>
    </>
  );
}

function Person(props: {
  readonly model: SessionModel;
  readonly links: readonly Presence["present"][number][];
  readonly presence: Presence;
}) {
  const { model, presence } = props;
  const [first] = props.links;
  const view = model.view.value;
  if (first === undefined) {
    return null;
  }
  const isUs = first.actor === view?.us;
  const isHolder = first.actor === presence.holder;
  return (
    <li class="person-row">
      <span>
        <ActorName actor={first.actor} name={shownName(first.name)} kind={first.kind} />
        {isUs && " (you)"}
        <small>
          {first.kind} · {props.links.map((one) => one.program).join(", ")} · {age(first.for_ms)}
          {first.mode === "observe" ? " · watching" : ""}
        </small>
      </span>
      {isHolder && <span class="chip tone-calm">has the turn</span>}
      {!isUs && view?.hasTurn && first.mode === "operate" && (
        <button type="button" onClick={() => void model.doing(model.link.give(first.actor))}>
          Give the turn
        </button>
      )}
    </li>
  );
}
