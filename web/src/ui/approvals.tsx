/** The inputs that wait for approval: what each is, from whom, and what would run. */

import { shown, shownKeys } from "../app/shown-text.js";
import type { Pending } from "../protocol/api.js";
import { Actor } from "./actor-name.js";
import { useFocusPassedOn } from "./focus.js";
import type { SessionModel } from "./session-model.js";
import { panel } from "./state.js";

/** A strip that leads to the panel, while the panel is not open. */
export function ApprovalBanner({ model }: { readonly model: SessionModel }) {
  const [first] = model.pending.value;
  if (first === undefined || panel.value === "approvals") {
    return null;
  }
  const others = model.pending.value.length - 1;
  return (
    <p class="strip ask" role="alert">
      <span>
        <Actor model={model} actor={first.actor} /> waits for approval
        {others > 0 ? `, and ${others} more` : ""}.
      </span>
      <button
        type="button"
        class="primary"
        onClick={() => {
          panel.value = "approvals";
        }}
      >
        Review
      </button>
    </p>
  );
}

export function Approvals({ model }: { readonly model: SessionModel }) {
  if (model.pending.value.length === 0) {
    return <p class="nothing">Nothing waits for approval.</p>;
  }
  return (
    <ul class="approvals">
      {model.pending.value.map((one) => (
        <Approval key={one.ticket} model={model} pending={one} />
      ))}
    </ul>
  );
}

function Approval(props: { readonly model: SessionModel; readonly pending: Pending }) {
  const { model, pending } = props;
  const card = useFocusPassedOn<HTMLLIElement>();
  const isOwn = pending.actor === model.view.value?.us;
  const cannot = isOwn
    ? "This is your own request: another operator has to decide."
    : model.may("approve")
      ? ""
      : "You lack the right to approve.";
  return (
    <li class="approval" ref={card}>
      <p class="approval-who">
        <Actor model={model} actor={pending.actor} />{" "}
        {pending.program === "" ? `sends ${KINDS[pending.kind] ?? pending.kind}` : "would execute"}
      </p>
      <pre class="approval-what">{what(pending)}</pre>
      <dl class="facts">
        {pending.runs !== "" && (
          <>
            <dt>Runs</dt>
            <dd class="mono">{shown(pending.runs, 256)}</dd>
          </>
        )}
        {pending.uses.map((use) => (
          <Use key={`${use.what} ${use.name}`} model={model} use={use} />
        ))}
        <dt>Rule</dt>
        <dd>{shown(pending.rule) || "none"}</dd>
      </dl>
      {pending.preview !== null && <Tried preview={pending.preview} />}
      {cannot !== "" && <p class="detail">{cannot}</p>}
      <div class="approval-buttons">
        <button
          type="button"
          class="primary"
          disabled={cannot !== ""}
          onClick={() => void model.doing(model.link.approve(pending))}
        >
          Approve
        </button>
        <button
          type="button"
          class="danger"
          disabled={!model.may("approve")}
          onClick={() => void model.doing(model.link.deny(pending))}
        >
          Deny
        </button>
      </div>
    </li>
  );
}

/** What the input did where it was tried out. It may act differently the next time. */
function Tried({ preview }: { readonly preview: NonNullable<Pending["preview"]> }) {
  const lines = preview.text.split("\n").map((line) => shown(line, 250));
  return (
    <details class="approval-preview" open>
      <summary>{preview.ran ? "Preview in a branch" : "No preview"}</summary>
      <pre class="approval-what">{lines.join("\n")}</pre>
    </details>
  );
}

function Use(props: { readonly model: SessionModel; readonly use: Pending["uses"][number] }) {
  const { model, use } = props;
  return (
    <>
      <dt>Staged</dt>
      <dd>
        {use.what} <code>{shown(use.name, 120)}</code>{" "}
        {use.by.length > 0 && (
          <>
            by{" "}
            {use.by.map((actor) => (
              <Actor key={actor} model={model} actor={actor} />
            ))}
          </>
        )}
        {use.sure ? "" : " (not sure)"}
      </dd>
    </>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  keys: "keys",
  command: "a command",
  signal: "a signal",
  resize: "a new size",
  answer: "a secret",
  start: "a command to start the session with",
};

function what(pending: Pending): string {
  if (pending.program !== "") {
    return shown(pending.program, 1024);
  }
  const left = pending.size - pending.excerpt.length;
  const text = shownKeys(pending.excerpt, 4096);
  if (pending.excerpt.length === 0) {
    return pending.size === 0 ? "nothing" : `${pending.size} bytes that are not shown`;
  }
  return left > 0 ? `${text}… and ${left} more bytes` : text;
}
