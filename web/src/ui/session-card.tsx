import type { Placed } from "../app/branches.js";
import { shown, shownName } from "../app/shown-text.js";
import { type Listed, needOf } from "../app/urgency.js";
import { age, callTold, type Tone, toneOf } from "../app/words.js";
import { ActorName } from "./actor-name.js";
import { sessionAddress } from "./route.js";
import { Reconstructed, StateChip } from "./state-chip.js";

/** One session of the list: its state, who is attached, and its last line. */
export function SessionCard(props: {
  readonly host: string;
  readonly placed: Placed;
  readonly us: string;
}) {
  const { listed, depth, parent } = props.placed;
  const { info, glance } = listed;
  const need = needOf(listed);
  const state = need === "over" ? "exited" : (glance?.evidence.state ?? (info.doing || info.state));
  const calls = need === "approval" || need === "attention";
  const tone: Tone = calls ? "needs" : need === "frozen" ? "cold" : toneOf(state);
  return (
    <li class={depth > 0 ? `offshoot depth-${depth}` : ""}>
      <a class={`session tone-${tone}`} href={sessionAddress(props.host, info.id)}>
        <span class="session-top">
          <span class="session-what">
            <span class="session-name">{shownName(info.name)}</span>
            <StateChip
              state={need === "frozen" ? "frozen" : state}
              program={need === "frozen" ? "" : glance?.evidence.program}
              why={glance?.evidence.why ?? []}
            />
            {info.recoveredMs > 0 && <Reconstructed />}
            {parent !== "" && <small>branch of {shownName(parent)}</small>}
            {need === "approval" && <span class="chip tone-needs">waits for approval</span>}
            {need !== "over" && info.attention !== null && (
              <span class="chip tone-needs">calls you</span>
            )}
            {need === "over" && <small>{ended(info.exit)}</small>}
          </span>
          <span class="session-age">{age(Date.now() - info.createdMs)}</span>
        </span>
        <span class="session-line">{shown(lineOf(listed), 160)}</span>
        <span class="session-foot">
          <span class="session-cwd">{shown(glance?.title || info.cwd, 80)}</span>
          <Present listed={listed} us={props.us} />
        </span>
      </a>
    </li>
  );
}

function Present({ listed, us }: { readonly listed: Listed; readonly us: string }) {
  const presence = listed.glance?.presence;
  const actors = new Map(
    (presence?.present ?? []).filter((one) => one.actor !== us).map((one) => [one.actor, one]),
  );
  if (presence === undefined || actors.size === 0) {
    return null;
  }
  return (
    <span class="session-people">
      {[...actors.values()].slice(0, 4).map((one) => (
        <span key={one.actor} class="person" title={one.kind}>
          <ActorName actor={one.actor} name={shownName(one.name)} kind={one.kind} />
          {presence.holder === one.actor && <small>has the turn</small>}
        </span>
      ))}
      {actors.size > 4 && <span class="person">and {actors.size - 4} more</span>}
    </span>
  );
}

/** A session's call for attention, or else the last line on its screen. */
function lineOf({ info, glance }: Listed): string {
  if (info.exit === null && info.attention !== null) {
    return callTold(info.attention);
  }
  return glance?.lastLine || info.command.join(" ");
}

function ended(status: number | null): string {
  if (status === null) {
    return "";
  }
  return status < 0 ? `killed by signal ${-status}` : `status ${status}`;
}
