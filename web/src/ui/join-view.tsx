/** An invitation: where it leads, and the button that uses it. */

import { useEffect, useState } from "preact/hooks";
import { shown } from "../app/shown-text.js";
import type { Invited } from "../protocol/api.js";
import { show } from "./route.js";
import { justJoined, page } from "./state.js";

type Step =
  | { readonly is: "reading" }
  | { readonly is: "ready"; readonly invited: Invited }
  | { readonly is: "joining"; readonly invited: Invited }
  | { readonly is: "failed"; readonly code: string; readonly why: string };

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
  useEffect(() => {
    void page.value?.read(link).then(
      (invited) => setStep({ is: "ready", invited }),
      (error: unknown) => setStep(failed(error)),
    );
  }, [link]);
  const join = async (invited: Invited): Promise<void> => {
    setStep({ is: "joining", invited });
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
      {(step.is === "ready" || step.is === "joining") && (
        <Ready
          invited={step.invited}
          isBusy={step.is === "joining"}
          join={() => void join(step.invited)}
        />
      )}
      {step.is === "failed" && (
        <div class="card-note bad" role="alert">
          <h2>This invitation does not work</h2>
          <p>{HINTS[step.code] ?? "Try again, or ask for another one."}</p>
          <p class="detail">{step.why}</p>
        </div>
      )}
      <button type="button" class="quiet" onClick={() => show({ is: "list" })}>
        Back to the sessions
      </button>
    </main>
  );
}

function Ready(props: {
  readonly invited: Invited;
  readonly isBusy: boolean;
  readonly join: () => void;
}) {
  return (
    <>
      <h1>You are invited</h1>
      <p>This browser gets its own key, by which the host will know it.</p>
      <dl class="facts">
        <dt>Host</dt>
        <dd>
          <b class="spoken">{props.invited.words}</b>{" "}
          <span class="mono">{props.invited.fingerprint}</span>
        </dd>
        <dt>Through</dt>
        <dd class="mono">{props.invited.relays.map((one) => shown(one)).join(", ")}</dd>
        <dt>Your key</dt>
        <dd class="mono">{page.value?.fingerprint}</dd>
      </dl>
      <p>
        <code>holdfast invite</code> printed the same words if this is the host that you mean. It
        tells its name, yours and your rights once you have joined.
      </p>
      <button type="button" class="primary wide" disabled={props.isBusy} onClick={props.join}>
        {props.isBusy ? "Joining…" : "Join this host"}
      </button>
    </>
  );
}

function failed(error: unknown): Step {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return {
    is: "failed",
    code,
    why: shown(error instanceof Error ? error.message : String(error)),
  };
}
