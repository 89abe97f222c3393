/** The page: one view at a time, and what lies above every view. */

import { shown } from "../app/shown-text.js";
import { closeAround, Dialog } from "./dialog.js";
import { JoinView } from "./join-view.js";
import { ListView } from "./list-view.js";
import { SessionView } from "./session-view.js";
import { dismiss, hasPage, isOnline, linkToOpen, route, startError, toasts } from "./state.js";

export function App() {
  if (startError.value !== null) {
    return <StartFailed />;
  }
  if (!hasPage.value) {
    return (
      <main class="join">
        <p role="status">
          <i class="spinner" /> Opening…
        </p>
      </main>
    );
  }
  return (
    <>
      {!isOnline.value && (
        <p class="strip warn" role="status">
          This device is offline. Sessions keep running.
        </p>
      )}
      <View />
      <OpenLink />
      <ul class="toasts" aria-live="polite">
        {toasts.value.map((one) => (
          <li key={one.id} class={`toast ${one.tone}`}>
            <span>{shown(one.text, 400)}</span>
            <button
              type="button"
              class="quiet"
              aria-label="Dismiss"
              onClick={() => dismiss(one.id)}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function View() {
  const now = route.value;
  switch (now.is) {
    case "list":
      return <ListView />;
    case "join":
      return <JoinView link={now.link} />;
    case "session":
      return <SessionView key={now.session} host={now.host} session={now.session} />;
    default:
      return now satisfies never;
  }
}

function StartFailed() {
  return (
    <main class="join">
      <div class="card-note bad" role="alert">
        <h2>This page cannot run here</h2>
        <p>
          It needs a current browser, a secure address (https, or this machine), and permission to
          store its key.
        </p>
        <p class="detail">{shown(startError.value?.message ?? "")}</p>
        <button type="button" class="primary" onClick={() => location.reload()}>
          Try again
        </button>
      </div>
    </main>
  );
}

/** A link that a program printed: opened only after the user has seen its address. */
function OpenLink() {
  const link = linkToOpen.value;
  return link === null ? null : <Question link={link} />;
}

function Question({ link }: { readonly link: URL }) {
  return (
    <Dialog
      title="Open this page?"
      closed={() => {
        linkToOpen.value = null;
      }}
    >
      <p>A program in the session printed this link. It leads to</p>
      <p class="mono wrap">
        <b>{shown(link.host)}</b>
      </p>
      <p class="mono wrap detail">{shown(link.href, 400)}</p>
      <div class="approval-buttons">
        <a
          class="button primary"
          href={link.href}
          target="_blank"
          rel="noopener noreferrer"
          onClick={({ currentTarget }) => setTimeout(() => closeAround(currentTarget), 0)}
        >
          Open
        </a>
        <button type="button" data-first onClick={(event) => closeAround(event.currentTarget)}>
          Stay here
        </button>
      </div>
    </Dialog>
  );
}
