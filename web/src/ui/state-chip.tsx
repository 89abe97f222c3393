/** A session's state: one word, the same in the list, in the session and in a terminal. */

import { shown } from "../app/shown-text.js";
import { toneOf } from "../app/words.js";

export function StateChip(props: { readonly state: string; readonly why?: readonly string[] }) {
  return (
    <span
      class={`chip tone-${toneOf(props.state)}`}
      title={props.why?.map((one) => shown(one)).join("; ") || undefined}
    >
      {shown(props.state, 40)}
    </span>
  );
}
