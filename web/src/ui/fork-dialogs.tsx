/** The questions about branches: a new one of a session, and the end of one. */

import { useEffect, useState } from "preact/hooks";
import { freeName } from "../app/branches.js";
import { blockersTold, imageTrouble } from "../app/image-words.js";
import { shownName } from "../app/shown-text.js";
import type { HostLink } from "../protocol/api.js";
import { Trouble } from "./checkpoint-dialog.js";
import { closeAround, Dialog } from "./dialog.js";
import { show } from "./route.js";
import { Buttons } from "./session-dialogs.js";
import type { SessionModel } from "./session-model.js";
import { attempt, say } from "./state.js";

const SIGKILL = 9;

interface Asked {
  readonly model: SessionModel;
  readonly host: HostLink;
  readonly closed: () => void;
}

export function ForkDialog({ model, host, closed }: Asked) {
  const [name, setName] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [why, setWhy] = useState("");
  const own = model.name.value;
  useEffect(() => {
    void host.sessions().then(
      (listed) =>
        setName(
          (now) =>
            now ||
            freeName(
              own,
              listed.map((one) => one.name),
            ),
        ),
      () => undefined,
    );
  }, [host, own]);
  const fork = async (form: HTMLFormElement): Promise<void> => {
    setBusy(true);
    setWhy("");
    try {
      const made = await forked(model, host, name.trim());
      closeAround(form);
      show({ is: "session", host: host.host.id, session: made });
    } catch (error) {
      setWhy(imageTrouble(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Fork ${shownName(own)}`} closed={closed}>
      <form
        class="asked"
        onSubmit={(event) => {
          event.preventDefault();
          void fork(event.currentTarget);
        }}
      >
        <p>
          A second session starts from here, with the same memory. It has its own files and no
          network, and its connections are closed. This session is stopped for a moment, and then
          continues.
        </p>
        <label for="branch-name">Name of the branch</label>
        <input
          id="branch-name"
          type="text"
          data-first
          required
          maxLength={64}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <Trouble why={why} />
        <Buttons label={isBusy ? "Working…" : "Fork"} isBusy={isBusy} />
      </form>
    </Dialog>
  );
}

/** Make a branch; return its id. An image that led to none is removed. */
async function forked(model: SessionModel, host: HostLink, name: string): Promise<string> {
  const seen = await model.link.preflight();
  const [first] = blockersTold(seen);
  if (first !== undefined) {
    throw new Error(`${first.what} ${first.remedy}`);
  }
  const image = await model.link.imageForBranch();
  const made = await host.branch(image.image, name);
  if (image.cuts.length > 0) {
    say(`${image.cuts.length} of its connections are closed in the branch.`);
  }
  return made.id;
}

export function DiscardDialog({ model, host, closed }: Asked) {
  const discard = async (pressed: HTMLElement): Promise<void> => {
    closeAround(pressed);
    const status = await attempt(model.link.end(SIGKILL));
    if (status !== null) {
      // It may be gone from the list by itself.
      await host.forget(model.link.session).catch(() => undefined);
      say(`${shownName(model.name.value)} was discarded.`);
      show({ is: "list" });
    }
  };
  return (
    <Dialog title={`Discard ${shownName(model.name.value)}?`} closed={closed}>
      <p>The branch ends, and its file changes are dropped. This cannot be undone.</p>
      <div class="approval-buttons">
        <button type="button" class="danger" onClick={(event) => void discard(event.currentTarget)}>
          Discard it
        </button>
        <button type="button" data-first onClick={(event) => closeAround(event.currentTarget)}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
