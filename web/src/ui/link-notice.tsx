/** The state of a link, unless it is up. */

import { shown } from "../app/shown-text.js";
import { ending } from "../app/words.js";
import type { Failure, HoldfastError, LinkState } from "../protocol/api.js";

interface Advice {
  readonly title: string;
  readonly text: string;
  readonly action: "reload" | "none";
}

const FAILURES: Readonly<Record<Failure, Advice>> = {
  version: {
    title: "This page and the host have different versions",
    text: "Reload the page; if that does not help, upgrade holdfast on the host.",
    action: "reload",
  },
  revoked: {
    title: "The host no longer knows this browser",
    text: "Your access was revoked, or has expired. Ask for a new invitation.",
    action: "none",
  },
  refused: {
    title: "You have no access",
    text: "Your rights do not cover this. Ask the person who invited you.",
    action: "none",
  },
  "wrong-host": {
    title: "This is not the host it claims to be",
    text: "The machine that answered could not prove its identity. Do not continue; tell the host's owner.",
    action: "none",
  },
  gone: {
    title: "This session is gone",
    text: "It has ended and was cleared away, or never existed.",
    action: "none",
  },
  stopped: {
    title: "This session is on disk",
    text: "It was saved to disk and stopped. Restore it to continue.",
    action: "none",
  },
  elsewhere: {
    title: "This session has moved to another host",
    text: "This browser is not known there. Ask for an invitation to that host, and open the session from there.",
    action: "none",
  },
  unsupported: {
    title: "This browser is not supported",
    text: "Encryption needs X25519 and Ed25519 in WebCrypto. Current browsers have them.",
    action: "none",
  },
};

/** A strip for problems that pass, a card for those that do not. */
export function LinkNotice(props: { readonly state: LinkState; readonly wake: () => void }) {
  const { state } = props;
  switch (state.is) {
    case "idle":
    case "live":
      return null;
    case "connecting":
      return state.attempt > 1 ? (
        <p class="strip" role="status">
          <i class="spinner" /> Connecting again…
        </p>
      ) : null;
    case "waiting":
      return (
        <p class="strip warn" role="status">
          <i class="spinner" />
          <span>
            Not connected: {reason(state.error)}. Trying again
            {state.retryInMs >= 2000 ? ` in ${Math.round(state.retryInMs / 1000)} s` : ""}.
          </span>
          <button type="button" onClick={props.wake}>
            Try now
          </button>
        </p>
      );
    case "moving":
      return (
        <p class="strip" role="status">
          <i class="spinner" /> Moving to {shown(state.to)}…
        </p>
      );
    case "over":
      return (
        <div class="card-note" role="status">
          <h2>This session has ended</h2>
          <p>{ending(state.status, shown(state.why))}</p>
        </div>
      );
    case "failed":
      return <FailureNote because={state.because} detail={state.error.message} />;
    default:
      return state satisfies never;
  }
}

/** A relay does not say which of the two it is, so that nobody can probe for hosts. */
function reason(error: HoldfastError): string {
  if (error.code === "session-moved") {
    const host = shown(String(error.facts["host"] ?? ""));
    return `the session has moved to ${host}, which is offline or does not know this browser; if it stays so, ask for an invitation to ${host}`;
  }
  return error.code === "not-reachable"
    ? "the host is offline, or no longer lets you in"
    : shown(error.message);
}

function FailureNote(props: { readonly because: Failure; readonly detail: string }) {
  const advice = FAILURES[props.because];
  if (props.because === "stopped") {
    return (
      <div class="card-note" role="status">
        <h2>{advice.title}</h2>
        <p>{advice.text}</p>
      </div>
    );
  }
  return (
    <div class="card-note bad" role="alert">
      <h2>{advice.title}</h2>
      <p>{advice.text}</p>
      <p class="detail">{shown(props.detail)}</p>
      {advice.action === "reload" && (
        <button type="button" class="primary" onClick={() => location.reload()}>
          Reload the page
        </button>
      )}
    </div>
  );
}
