/** Putting a session to disk: what is in the way, the label, and what came of it. */

import { useEffect, useState } from "preact/hooks";
import { blockersTold, checkpointTold, imageTrouble } from "../app/image-words.js";
import { shownName } from "../app/shown-text.js";
import type { Checkpointed, Preflight } from "../protocol/api.js";
import { closeAround, Dialog } from "./dialog.js";
import { Buttons } from "./session-dialogs.js";
import type { SessionModel } from "./session-model.js";

export function CheckpointDialog(props: {
  readonly model: SessionModel;
  readonly closed: () => void;
  readonly showImages: () => void;
}) {
  const { model } = props;
  const [seen, setSeen] = useState<Preflight | null>(null);
  const [made, setMade] = useState<Checkpointed | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [why, setWhy] = useState("");
  const look = async (): Promise<void> => {
    setWhy("");
    try {
      setSeen(await model.link.preflight());
    } catch (error) {
      setWhy(imageTrouble(error));
    }
  };
  useEffect(() => void look(), []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const said = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setWhy("");
    try {
      const label = String(said.get("label") ?? "").trim();
      setMade(await model.link.checkpoint({ label, stop: said.get("then") === "stop" }));
    } catch (error) {
      setWhy(imageTrouble(error));
    }
    setBusy(false);
  };
  const blockers = seen === null ? [] : blockersTold(seen);
  return (
    <Dialog title={`Checkpoint ${shownName(model.name.value)}`} closed={props.closed}>
      {made !== null ? (
        <Made made={made} showImages={props.showImages} />
      ) : blockers.length > 0 ? (
        <Blocked blockers={blockers} again={() => void look()} />
      ) : (
        <form class="asked" onSubmit={(event) => void submit(event)}>
          <p>
            The session is saved to disk with the memory of its programs. It is stopped for a
            moment.
          </p>
          <label for="image-label">Label</label>
          <input
            id="image-label"
            name="label"
            type="text"
            data-first
            maxLength={64}
            placeholder="optional, such as: before the upgrade"
            autocomplete="off"
          />
          <Then />
          <Trouble why={why} />
          <p class="nothing" role="status">
            {isBusy ? "The session is stopped while it is written…" : ""}
          </p>
          <Buttons label={isBusy ? "Working…" : "Checkpoint"} isBusy={isBusy} />
        </form>
      )}
    </Dialog>
  );
}

function Then() {
  return (
    <fieldset class="then">
      <legend>Then</legend>
      <label class="ticked">
        <input type="radio" name="then" value="go-on" defaultChecked />
        <span>it continues</span>
      </label>
      <label class="ticked">
        <input type="radio" name="then" value="stop" />
        <span>
          it ends <small>until it is restored</small>
        </span>
      </label>
    </fieldset>
  );
}

/** Why something did not work, told to those who do not see it too. */
export function Trouble({ why }: { readonly why: string }) {
  return why === "" ? null : (
    <p class="bad-word" role="alert">
      {why}
    </p>
  );
}

function Made(props: { readonly made: Checkpointed; readonly showImages: () => void }) {
  return (
    <>
      <div role="status">
        {checkpointTold(props.made).map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
      <div class="approval-buttons">
        <button
          type="button"
          class="primary"
          ref={(one) => one?.focus()}
          onClick={(event) => closeAround(event.currentTarget)}
        >
          Done
        </button>
        <button
          type="button"
          onClick={(event) => {
            closeAround(event.currentTarget);
            props.showImages();
          }}
        >
          Images…
        </button>
      </div>
    </>
  );
}

function Blocked(props: {
  readonly blockers: readonly { what: string; remedy: string }[];
  readonly again: () => void;
}) {
  return (
    <>
      <p role="alert">It cannot be saved to disk now:</p>
      <ul class="blockers">
        {props.blockers.map((one) => (
          <li key={one.what}>
            {one.what}
            {one.remedy !== "" && <small>What to do: {one.remedy}</small>}
          </li>
        ))}
      </ul>
      <div class="approval-buttons">
        <button type="button" onClick={props.again}>
          Look again
        </button>
        <button type="button" onClick={(event) => closeAround(event.currentTarget)}>
          Cancel
        </button>
      </div>
    </>
  );
}
