/** The button that seizes the turn, and the menu of its variants. */

import { Icon } from "./icons.js";
import { MenuButton } from "./menu.js";
import type { SessionModel } from "./session-model.js";

export function Seize(props: { readonly model: SessionModel; readonly isLive: boolean }) {
  const { model } = props;
  const { link } = model;
  return (
    <span class="split">
      <button
        type="button"
        class="danger"
        disabled={!props.isLive}
        title="Take the turn at once from the operator who has it"
        onClick={() => void model.doing(link.seize("none"))}
      >
        Seize
      </button>
      <MenuButton
        label="More ways to seize"
        look="danger more"
        isOff={!props.isLive}
        items={[
          {
            label: "Seize and freeze",
            act: () => void model.doing(link.seize("freeze")),
          },
          {
            label: "Seize and interrupt",
            act: () => void model.doing(link.seize("interrupt")),
          },
        ]}
      >
        <Icon name="down" />
      </MenuButton>
    </span>
  );
}
