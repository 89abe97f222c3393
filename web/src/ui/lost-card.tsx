/** One session of the list that was lost, and the button that starts it again. */

import { useState } from "preact/hooks";
import { shown, shownName } from "../app/shown-text.js";
import { age } from "../app/words.js";
import type { LostInfo } from "../protocol/api.js";
import type { HostModel } from "./list-model.js";
import { show } from "./route.js";
import { say } from "./state.js";

export function LostCard(props: {
  readonly model: HostModel;
  readonly lost: LostInfo;
  readonly mayRecover: boolean;
}) {
  const { lost, model } = props;
  const [isBusy, setBusy] = useState(false);
  const name = lost.name === "" ? lost.id : lost.name;
  const recover = async (): Promise<void> => {
    setBusy(true);
    try {
      const made = await model.link.recover(lost);
      show({ is: "session", host: model.link.host.id, session: made.id });
    } catch (error) {
      say(error instanceof Error ? shown(error.message) : "It was not recovered.", "bad");
      setBusy(false);
    }
  };
  return (
    <li>
      <section class="session lost tone-over" aria-label={`${shownName(name)}, lost`}>
        <span class="session-top">
          <span class="session-name">{shownName(name)}</span>
          <span class="chip tone-over" title="Its processes are gone; it can be started again">
            lost
          </span>
          <span class="session-age">{age(Date.now() - lost.seenMs)}</span>
        </span>
        <span class="session-line">{shown(lost.command.join(" "), 160)}</span>
        <span class="session-foot">
          <span class="session-cwd">{shown(lost.why === "" ? lost.cwd : lost.why, 120)}</span>
          {props.mayRecover && lost.why === "" && (
            <button type="button" disabled={isBusy} onClick={() => void recover()}>
              {isBusy ? "Starting…" : "Recover"}
            </button>
          )}
        </span>
      </section>
    </li>
  );
}
