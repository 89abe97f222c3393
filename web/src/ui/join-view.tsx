/** An invitation: where it leads, what it gives, and the button that uses it. */

import { useEffect, useState } from "preact/hooks";
import { shown, shownName } from "../app/shown-text.js";
import type { Invited, Terms } from "../protocol/api.js";
import { RightsFacts } from "./joined-card.js";
import { show } from "./route.js";
import { justJoined, page } from "./state.js";

type Step =
  | { readonly is: "reading" }
  | { readonly is: "asking"; readonly invited: Invited }
  | { readonly is: "ready"; readonly invited: Invited; readonly terms: Terms | null }
  | { readonly is: "joining"; readonly invited: Invited; readonly terms: Terms | null }
  | { readonly is: "failed"; readonly code: string; readonly why: string };

/** What a host says that is older than the question for its terms. */
const NOT_TOLD = ["malformed-message", "unexpected-message"];

/** What another try cannot change. */
const FINAL = ["invite-used", "invite-expired", "malformed-invite", "wrong-identity"];

const HINTS: Readonly<Record<string, string>> = {
  "invite-unknown": "It was used, withdrawn, or has expired. Ask for a new one.",
  "invite-used":
    "It was used already. If that was not you, tell the person who invited you; otherwise ask for a new one.",
  "invite-expired": "It has expired. Ask for a new one.",
  "malformed-invite": "The link is incomplete. Copy all of it, or scan the code again.",
  // A relay does not say which of them it is, so that nobody can probe for hosts.
  "not-reachable":
    "It was used, withdrawn, or has expired; or the host is offline. Try again later, or ask for a new one.",
  "wrong-identity": "The machine that answered is not that host. Do not continue.",
};

export function JoinView({ link }: { readonly link: string }) {
  const [step, setStep] = useState<Step>({ is: "reading" });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isGone = false;
    const go = (next: Step): void => {
      if (!isGone) setStep(next);
    };
    void readTerms(link, go).catch((error: unknown) => go(failed(error)));
    return () => {
      isGone = true;
    };
  }, [link, tries]);
  const join = async (invited: Invited, terms: Terms | null): Promise<void> => {
    setStep({ is: "joining", invited, terms });
    try {
      const host = await page.value?.join(link);
      justJoined.value = host === undefined ? null : { host, words: invited.words };
      show({ is: "list" });
    } catch (error) {
      setStep(failed(error));
    }
  };
  return (
    <main class="join">
      <img src="/icon.svg" alt="" width="56" height="56" />
      {step.is === "reading" && <p role="status">Reading the invitation…</p>}
      {step.is === "asking" && <Asking invited={step.invited} />}
      {(step.is === "ready" || step.is === "joining") && (
        <Ready
          invited={step.invited}
          terms={step.terms}
          isBusy={step.is === "joining"}
          join={() => void join(step.invited, step.terms)}
        />
      )}
      {step.is === "failed" && (
        <div class="card-note bad" role="alert">
          <h2>This invitation does not work</h2>
          <p>{HINTS[step.code] ?? "Try again, or ask for another one."}</p>
          <p class="detail">{step.why}</p>
          {!FINAL.includes(step.code) && (
            <button
              type="button"
              onClick={() => {
                setStep({ is: "reading" });
                setTries(tries + 1);
              }}
            >
              Try again
            </button>
          )}
        </div>
      )}
      <button type="button" class="quiet" onClick={() => show({ is: "list" })}>
        Back to the sessions
      </button>
    </main>
  );
}

/** Read an invitation, and have its host tell what it gives. */
async function readTerms(link: string, go: (step: Step) => void): Promise<void> {
  const invited = await page.value?.read(link);
  if (invited === undefined) return;
  go({ is: "asking", invited });
  try {
    const terms = (await page.value?.terms(link)) ?? null;
    go({ is: "ready", invited, terms });
  } catch (error) {
    if (!NOT_TOLD.includes(codeOf(error))) throw error;
    go({ is: "ready", invited, terms: null });
  }
}

function Asking({ invited }: { readonly invited: Invited }) {
  return (
    <>
      <h1>You are invited</h1>
      <p role="status">
        <i class="spinner" /> Asking {invited.words} what you may do there…
      </p>
    </>
  );
}

function Ready(props: {
  readonly invited: Invited;
  /** What joining gives; null if the host does not tell before. */
  readonly terms: Terms | null;
  readonly isBusy: boolean;
  readonly join: () => void;
}) {
  const { invited, terms } = props;
  return (
    <>
      <h1>{terms?.isKnown === true ? "You have already joined" : "You are invited"}</h1>
      <p>This browser has its own key, by which the host will know it.</p>
      <dl class="facts">
        {terms !== null && (
          <>
            <dt>Host</dt>
            <dd>{shownName(terms.host)}</dd>
          </>
        )}
        <dt>Its key</dt>
        <dd>
          <b class="spoken">{invited.words}</b> <span class="mono">{invited.fingerprint}</span>
        </dd>
        {terms !== null && (
          <>
            <dt>You are</dt>
            <dd>{shownName(terms.operator)}</dd>
            <RightsFacts given={terms} />
          </>
        )}
        <dt>Through</dt>
        <dd class="mono">{invited.relays.map((one) => shown(one)).join(", ")}</dd>
        <dt>Your key</dt>
        <dd class="mono">{page.value?.fingerprint}</dd>
      </dl>
      <p>
        <code>holdfast invite</code> printed the same words if this is the right host.{" "}
        {terms === null
          ? "This host has an older version: you see its name, yours and your rights after you join."
          : "The invitation is not used up until you join."}
      </p>
      <button type="button" class="primary wide" disabled={props.isBusy} onClick={props.join}>
        {props.isBusy ? "Joining…" : "Join this host"}
      </button>
    </>
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function failed(error: unknown): Step {
  return {
    is: "failed",
    code: codeOf(error),
    why: shown(error instanceof Error ? error.message : String(error)),
  };
}
