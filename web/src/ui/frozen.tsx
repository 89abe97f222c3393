import { useFocusPassedOn } from "./focus.js";
import { Icon } from "./icons.js";
import type { SessionModel } from "./session-model.js";

/** Covers the terminal to say that the session is frozen. */
export function Frozen({ model }: { readonly model: SessionModel }) {
  return model.isFrozen.value ? <Veil model={model} /> : null;
}

function Veil({ model }: { readonly model: SessionModel }) {
  const veil = useFocusPassedOn<HTMLDivElement>();
  return (
    <div class="frozen" role="alert" ref={veil}>
      <div class="frozen-card">
        <Icon name="snow" />
        <h2>Frozen</h2>
        <p>Every process is stopped, and no input is accepted.</p>
        <button
          type="button"
          class="primary"
          disabled={model.state.value.is !== "live"}
          onClick={() => void model.doing(model.link.thaw())}
        >
          Thaw
        </button>
      </div>
    </div>
  );
}
