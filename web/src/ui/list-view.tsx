/** Every session of every host, those that need attention first. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { byBranch } from "../app/branches.js";
import { shown, shownName } from "../app/shown-text.js";
import { needOf } from "../app/urgency.js";
import { Icon } from "./icons.js";
import { ImagesDialog } from "./images-dialog.js";
import { JoinedCard } from "./joined-card.js";
import { LinkNotice } from "./link-notice.js";
import { type HostModel, hostModels } from "./list-model.js";
import { LostCard } from "./lost-card.js";
import { NewSession } from "./new-session.js";
import { askPermission, permission } from "./notifications.js";
import { isDark, nextTheme } from "./preferences.js";
import { show } from "./route.js";
import { SessionCard } from "./session-card.js";
import { attempt, hosts, page, say } from "./state.js";

export function ListView() {
  const known = hosts.value;
  const models = useMemo(() => hostModels(known), [known]);
  useEffect(() => () => models.forEach((model) => model.close()), [models]);
  const needing = models.reduce((sum, model) => sum + countNeeding(model), 0);
  useEffect(() => {
    document.title = needing > 0 ? `(${needing}) holdfast` : "holdfast";
  }, [needing]);
  return (
    <div class="list-page">
      <header class="bar">
        <h1 class="brand">
          <img src="/icon.svg" alt="" width="24" height="24" /> holdfast
        </h1>
        <span class="grow" />
        {permission.value === "default" && (
          <button type="button" class="quiet" onClick={() => void askPermission()}>
            <Icon name="bell" /> Notify me
          </button>
        )}
        <button
          type="button"
          class="quiet square"
          aria-label={isDark.value ? "Light colours" : "Dark colours"}
          onClick={nextTheme}
        >
          <Icon name="sun" />
        </button>
      </header>
      <main class="list">
        <JoinedCard />
        {known.length === 0 && <Empty />}
        {models.map((model) => (
          <Host key={model.link.host.id} model={model} />
        ))}
        {known.length > 0 && <JoinAnother />}
      </main>
    </div>
  );
}

function countNeeding(model: HostModel): number {
  const listed = model.list.value.sessions ?? [];
  return listed.filter((one) => ["approval", "secret", "input"].includes(needOf(one))).length;
}

function Host({ model }: { readonly model: HostModel }) {
  const { host, state, sessions, lost, notices } = model.list.value;
  const us = page.value?.actor ?? "";
  const mayCreate = host.rights.includes("create") && host.session === "";
  const mayImage = host.rights.includes("checkpoint");
  const [asks, setAsks] = useState<"new" | "images" | null>(null);
  const closed = (): void => setAsks(null);
  return (
    <section class="host" aria-label={`Sessions on ${shownName(host.name)}`}>
      <header class="host-head">
        <h2>{shownName(host.name)}</h2>
        <small title="Compare this with the host's own fingerprint">
          as {shownName(host.operator)} · <span class="mono">{host.fingerprint}</span>
        </small>
        <span class="host-acts">
          {mayCreate && state.is === "live" && (
            <button type="button" onClick={() => setAsks("new")}>
              <Icon name="plus" /> New session
            </button>
          )}
          {mayImage && state.is === "live" && (
            <button type="button" class="quiet" onClick={() => setAsks("images")}>
              Images
            </button>
          )}
          <Forget model={model} />
        </span>
        {asks === "new" && <NewSession model={model} closed={closed} />}
        {asks === "images" && <ImagesDialog host={model.link} closed={closed} />}
      </header>
      <LinkNotice state={state} wake={() => page.value?.wake()} />
      {notices.map((notice) => (
        <p class="strip warn" role="alert" key={notice}>
          {shown(notice)}
        </p>
      ))}
      {sessions === null && state.is !== "failed" && <Loading />}
      {sessions?.length === 0 && lost.length === 0 && <p class="nothing">No sessions yet.</p>}
      <ul class="sessions">
        {byBranch(sessions ?? []).map((one) => (
          <SessionCard key={one.listed.info.id} host={host.id} placed={one} us={us} />
        ))}
        {lost.map((one) => (
          <li key={one.id}>
            <LostCard host={model.link} lost={one} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Forget({ model }: { readonly model: HostModel }) {
  const [isSure, setSure] = useState(false);
  const forget = (): void => {
    if (isSure) {
      void attempt(page.value?.forget(model.link.host.id) ?? Promise.resolve());
      return;
    }
    setSure(true);
    setTimeout(() => setSure(false), 4000);
  };
  return (
    <button type="button" class="quiet" onClick={forget}>
      {isSure ? "Really forget it" : "Forget"}
    </button>
  );
}

function Loading() {
  return (
    <ul class="sessions" aria-busy="true" aria-label="Loading sessions">
      {[0, 1, 2].map((one) => (
        <li key={one} class="session ghost" />
      ))}
    </ul>
  );
}

function Empty() {
  return (
    <section class="empty">
      <img src="/icon.svg" alt="" width="72" height="72" />
      <h2>No host yet</h2>
      <p>
        On the machine whose sessions you want to see, run <code>holdfast invite</code>. Scan its
        code with this phone, or paste its link here.
      </p>
      <JoinForm />
    </section>
  );
}

function JoinAnother() {
  return (
    <details class="another">
      <summary>Join another host</summary>
      <JoinForm />
    </details>
  );
}

function JoinForm() {
  const [text, setText] = useState("");
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await page.value?.read(text);
      show({ is: "join", link: text });
    } catch (error) {
      say(error instanceof Error ? shown(error.message) : "This is not an invitation.", "bad");
    }
  };
  return (
    <form class="join-form" onSubmit={(event) => void submit(event)}>
      <input
        type="text"
        aria-label="Invitation link"
        placeholder="https://…/j#…"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="primary" disabled={text.trim() === ""}>
        Join
      </button>
    </form>
  );
}
