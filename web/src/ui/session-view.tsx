/** One session: its terminal, its operators, and its controls. */

import { useEffect, useMemo } from "preact/hooks";
import { shownName } from "../app/shown-text.js";
import { ApprovalBanner } from "./approvals.js";
import { Compose } from "./compose.js";
import { focusTerminal } from "./focus.js";
import { Frozen } from "./frozen.js";
import { HandOver } from "./hand-over.js";
import { KeyRow } from "./key-row.js";
import { LinkNotice } from "./link-notice.js";
import { NextLife } from "./next-life.js";
import { Panels } from "./panels.js";
import { SecretForm } from "./secret-form.js";
import { SessionHeader } from "./session-header.js";
import { SessionModel } from "./session-model.js";
import { isNarrow, livesBegun, page, panel } from "./state.js";
import { TerminalPane } from "./terminal-pane.js";

export function SessionView(props: { readonly host: string; readonly session: string }) {
  const lives = livesBegun.value;
  const model = useMemo(
    () => attached(props.host, props.session),
    [props.host, props.session, lives],
  );
  useEffect(() => () => model?.close(), [model]);
  if (model === null) {
    return (
      <main class="join">
        <div class="card-note" role="status">
          <h2>This browser has not joined that host</h2>
          <p>Join it with an invitation first.</p>
          <a class="button" href="#/">
            All sessions
          </a>
        </div>
      </main>
    );
  }
  return <Attached model={model} />;
}

function attached(host: string, session: string): SessionModel | null {
  const found = page.value;
  const known = found?.hosts().find((one) => one.id === host);
  if (found === null || known === undefined) {
    return null;
  }
  const mode = known.rights.some((right) => right !== "observe") ? "operate" : "observe";
  return new SessionModel(found.link(host).attach(session, { mode }));
}

/** The same keys move the focus out of the terminal and back into it. */
function lead(event: KeyboardEvent): void {
  if (event.key === "F6" && event.shiftKey && !event.defaultPrevented) {
    event.preventDefault();
    focusTerminal();
  }
}

function Attached({ model }: { readonly model: SessionModel }) {
  const state = model.state.value;
  const view = model.view.value;
  const name = model.name.value;
  const isGone = state.is === "failed";
  useEffect(() => {
    document.title = name === "" ? "holdfast" : `${shownName(name)} · holdfast`;
  }, [name]);
  const look = [
    "session-page",
    model.isFrozen.value ? "is-frozen" : "",
    view?.hasTurn ? "is-ours" : "",
    panel.value === null ? "" : "has-panel",
  ];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: shortcuts of all that is in it
    <div class={look.join(" ")} onKeyDown={lead}>
      <SessionHeader model={model} />
      <LinkNotice state={state} wake={() => model.link.wake()} />
      <NextLife model={model} />
      <ApprovalBanner model={model} />
      <HandOver model={model} />
      <div class="session-body">
        <main class="stage" aria-label="Terminal">
          {!isGone && <TerminalPane model={model} />}
          <Frozen model={model} />
        </main>
        <Panels model={model} />
      </div>
      <SecretForm model={model} />
      {isNarrow.value && !isGone && model.link.mode === "operate" && (
        <>
          <Compose model={model} />
          <KeyRow model={model} />
        </>
      )}
    </div>
  );
}
