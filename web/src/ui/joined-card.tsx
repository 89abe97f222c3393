/** The joined host: its key, the user's name there and rights. */

import { shown, shownName } from "../app/shown-text.js";
import { rightsTold } from "../app/words.js";
import type { Terms } from "../protocol/api.js";
import { justJoined } from "./state.js";

export function JoinedCard() {
  const joined = justJoined.value;
  if (joined === null) {
    return null;
  }
  const { host, words } = joined;
  return (
    <section class="card-note joined" aria-labelledby="joined">
      <h2 id="joined">You have joined {shownName(host.name)}</h2>
      <dl class="facts">
        <dt>Its key</dt>
        <dd>
          <b>{words}</b> <span class="mono">{host.fingerprint}</span>
        </dd>
        <dt>You are</dt>
        <dd>{shownName(host.operator)}</dd>
        <RightsFacts given={host} />
      </dl>
      <button
        type="button"
        onClick={() => {
          justJoined.value = null;
        }}
      >
        I have seen it
      </button>
    </section>
  );
}

/** The user's rights, where, and until when. */
export function RightsFacts({
  given,
}: {
  readonly given: Pick<Terms, "rights" | "session" | "expiresMs">;
}) {
  return (
    <>
      <dt>You may</dt>
      <dd>
        {shown(rightsTold(given.rights))},{" "}
        {given.session === "" ? "in every session" : "in one session"}
      </dd>
      <dt>Until</dt>
      <dd>{given.expiresMs === null ? "it is revoked" : until(given.expiresMs)}</dd>
    </>
  );
}

export function until(ms: number): string {
  return new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
