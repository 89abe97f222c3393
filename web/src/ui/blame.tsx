/** Who is behind something: asked with a press, shown below it. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { shown } from "../app/shown-text.js";
import type { BlameReport } from "../protocol/api.js";
import { Actor } from "./actor-name.js";
import type { SessionModel } from "./session-model.js";
import { attempt } from "./state.js";

export function Blamed(props: {
  readonly model: SessionModel;
  readonly ask: () => Promise<BlameReport>;
  readonly children: ComponentChildren;
}) {
  const [blame, setBlame] = useState<BlameReport | null>(null);
  const press = async (): Promise<void> => {
    setBlame(blame === null ? await attempt(props.ask()) : null);
  };
  const keyed = (event: KeyboardEvent): void => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      void press();
    }
  };
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a button does not break like the text around it */}
      <span
        class="link"
        role="button"
        tabIndex={0}
        title="Who is behind it?"
        aria-expanded={blame !== null}
        onClick={() => void press()}
        onKeyDown={keyed}
      >
        {props.children}
      </span>
      {blame !== null && <Blame model={props.model} blame={blame} />}
    </>
  );
}

function Blame(props: { readonly model: SessionModel; readonly blame: BlameReport }) {
  const { model } = props;
  const { behind } = props.blame;
  if (behind === null) {
    return <small class="blame">No operator can be named.</small>;
  }
  const authors = behind.authors.filter((one) => one !== behind.trigger);
  return (
    <small class="blame">
      Command {behind.command}, entered by{" "}
      {behind.trigger === "" ? "unknown" : <Actor model={model} actor={behind.trigger} />}
      {authors.map((one) => (
        <>
          , typed by <Actor model={model} actor={one} />
        </>
      ))}
      : <code>{shown(behind.line, 120)}</code>
    </small>
  );
}
