/** One session that was lost or stopped, and the buttons that bring it back. */

import { useState } from "preact/hooks";
import { imageTrouble } from "../app/image-words.js";
import { shown, shownName } from "../app/shown-text.js";
import { age } from "../app/words.js";
import type { HostLink, LostInfo } from "../protocol/api.js";
import { Trouble } from "./checkpoint-dialog.js";
import { ImagesDialog, restored } from "./images-dialog.js";
import { show } from "./route.js";
import { livesBegun } from "./state.js";

export function LostCard(props: { readonly host: HostLink; readonly lost: LostInfo }) {
  const { lost, host } = props;
  const [doing, setDoing] = useState<"" | "recover" | "restore" | "images">("");
  const [why, setWhy] = useState("");
  const name = shownName(lost.name === "" ? lost.id : lost.name);
  const { rights, session, id } = host.host;
  const mayBegin = rights.includes("create") && session === "";
  const mayImage = rights.includes("checkpoint");
  const isStopped = lost.image > 0;
  const image = lost.image || lost.saved;
  const recover = async (): Promise<void> => {
    setDoing("recover");
    setWhy("");
    try {
      const made = await host.recover(lost);
      livesBegun.value += 1;
      show({ is: "session", host: id, session: made.id });
    } catch (error) {
      setWhy(imageTrouble(error));
    }
    setDoing("");
  };
  const restore = async (): Promise<void> => {
    setDoing("restore");
    const from = { ...NO_IMAGE, id: lost.id, number: image, name: lost.name };
    await restored(host, from, setWhy);
    setDoing("");
  };
  const state = isStopped ? "on disk" : "lost";
  return (
    <section class="session lost tone-over" aria-label={`${name}, ${state}`}>
      <span class="session-top">
        <span class="session-what">
          <span class="session-name">{name}</span>
          <span class="chip tone-over" title={isStopped ? STOPPED : LOST}>
            {state}
          </span>
        </span>
        <span class="session-age">{age(Date.now() - lost.seenMs)}</span>
      </span>
      <span class="session-line">{shown(lost.command.join(" "), 160)}</span>
      <span class="session-foot">
        <span class="session-cwd">
          {shown(lost.why === "" || isStopped ? lost.cwd : lost.why, 120)}
        </span>
        <span class="approval-buttons">
          {mayImage && image > 0 && (
            <button
              type="button"
              class="quiet"
              aria-label={`Images of ${name}`}
              onClick={() => setDoing("images")}
            >
              Images
            </button>
          )}
          {mayBegin && mayImage && image > 0 && (
            <button
              type="button"
              title={isStopped ? STOPPED : `Restores its image, made ${savedTold(lost)}`}
              disabled={doing !== ""}
              onClick={() => void restore()}
            >
              {doing === "restore" ? "Restoring…" : "Restore"}
            </button>
          )}
          {mayBegin && lost.why === "" && (
            <button
              type="button"
              title="Starts its command again; the memory of its programs is gone"
              disabled={doing !== ""}
              onClick={() => void recover()}
            >
              {doing === "recover" ? "Starting…" : "Recover"}
            </button>
          )}
        </span>
      </span>
      <Trouble why={why} />
      {doing === "images" && (
        <ImagesDialog host={host} session={lost.id} closed={() => setDoing("")} />
      )}
    </section>
  );
}

function savedTold(lost: LostInfo): string {
  return lost.savedMs > 0 ? `${age(Date.now() - lost.savedMs)} ago` : "earlier";
}

const LOST = "Its processes are gone; it can be started again";
const STOPPED = "It was saved to disk; a restore continues it";
const NO_IMAGE = {
  label: "",
  madeMs: 0,
  size: 0,
  incarnation: 1,
  once: true,
  problem: "",
};
