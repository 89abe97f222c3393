/** A session's state: one word, the same in the list, in the session and in a terminal. */

import { shown } from "../app/shown-text.js";
import { stateInBrief, stateTold, toneOf } from "../app/words.js";

export function StateChip(props: {
  readonly state: string;
  readonly program?: string | undefined;
  readonly why?: readonly string[];
}) {
  const told = shown(stateTold(props.state, props.program ?? ""), 40);
  return (
    <span
      class={`chip tone-${toneOf(props.state)}`}
      title={props.why?.map((one) => shown(one)).join("; ") || told}
      data-brief={shown(stateInBrief(props.state), 40)}
    >
      {told}
    </span>
  );
}

/** That a session was lost, and begun again from what was kept of it. */
export function Reconstructed() {
  return (
    <span
      class="chip tone-over"
      title="It was lost and started again: its output was kept, its processes and their memory were not"
    >
      reconstructed
    </span>
  );
}
