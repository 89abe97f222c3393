/** The images of one session or of a host: restored from here, or removed. */

import { useEffect, useState } from "preact/hooks";
import { freeName } from "../app/branches.js";
import { imageFacts, imageName, imageTrouble } from "../app/image-words.js";
import { shown, shownName } from "../app/shown-text.js";
import type { HostLink, ImageInfo } from "../protocol/api.js";
import { Trouble } from "./checkpoint-dialog.js";
import { closeAround, Dialog } from "./dialog.js";
import { show } from "./route.js";
import { livesBegun, say } from "./state.js";

interface Found {
  readonly images: readonly ImageInfo[];
  /** Sessions that live: nothing of them can be restored. */
  readonly living: ReadonlySet<string>;
}

export function ImagesDialog(props: {
  readonly host: HostLink;
  readonly session?: string;
  readonly closed: () => void;
}) {
  const { host, session = "" } = props;
  const [found, setFound] = useState<Found | null>(null);
  const [why, setWhy] = useState("");
  const look = async (): Promise<void> => {
    try {
      const [images, sessions] = await Promise.all([host.images(session), host.sessions()]);
      const living = sessions.filter((one) => one.exit === null).map((one) => one.id);
      setFound({ images, living: new Set(living) });
    } catch (error) {
      setWhy(imageTrouble(error));
    }
  };
  useEffect(() => void look(), []);
  const remove = async (image: ImageInfo): Promise<void> => {
    setWhy("");
    try {
      await host.removeImage(image);
      say(`${imageName(image)} was removed.`);
    } catch (error) {
      setWhy(imageTrouble(error));
    }
    await look();
  };
  const where = session === "" ? `on ${shownName(host.host.name)}` : "of this session";
  const images = found?.images ?? [];
  return (
    <Dialog title={`Images ${where}`} closed={props.closed}>
      {found === null && why === "" && <p class="nothing">Looking…</p>}
      {found !== null && images.length === 0 && (
        <p class="nothing">None yet. “Checkpoint” in a session's menu makes one.</p>
      )}
      <ul class="images">
        {images.map((one) => (
          <Image
            key={`${one.id}.${one.number}`}
            host={host}
            image={one}
            withSession={session === ""}
            isAlive={found?.living.has(one.id) ?? false}
            failed={setWhy}
            remove={() => remove(one)}
          />
        ))}
      </ul>
      {images.some((one) => found?.living.has(one.id)) && (
        <p class="nothing">
          To restore an image of a running session, end the session first, or start a branch.
        </p>
      )}
      <Trouble why={why} />
      <div class="approval-buttons">
        <button type="button" data-first onClick={(event) => closeAround(event.currentTarget)}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Image(props: {
  readonly host: HostLink;
  readonly image: ImageInfo;
  readonly withSession: boolean;
  readonly isAlive: boolean;
  readonly failed: (why: string) => void;
  readonly remove: () => Promise<void>;
}) {
  const { image, host } = props;
  const [state, setState] = useState<"" | "restoring" | "asking" | "removing">("");
  const name = imageName(image);
  const mayRestore =
    host.host.rights.includes("create") && host.host.session === "" && image.problem === "";
  const begin = async (pressed: HTMLElement, asBranch = false): Promise<void> => {
    setState("restoring");
    const again = asBranch ? branched : restored;
    if (await again(host, image, props.failed)) {
      closeAround(pressed);
    }
    setState("");
  };
  const remove = async (): Promise<void> => {
    setState("removing");
    await props.remove();
    setState("");
  };
  return (
    <li class="image">
      <b>{name}</b>
      <small>{imageFacts(image, Date.now(), props.withSession)}</small>
      {image.problem !== "" && <small class="bad-word">{shown(image.problem, 200)}</small>}
      {state === "asking" || state === "removing" ? (
        <Sure
          image={image}
          isBusy={state === "removing"}
          yes={() => void remove()}
          no={() => setState("")}
        />
      ) : (
        <span class="approval-buttons">
          {mayRestore && (
            <button
              type="button"
              class="primary"
              aria-label={`Restore ${name}`}
              disabled={props.isAlive || state === "restoring"}
              title={props.isAlive ? "The session is running; end it first" : ""}
              onClick={(event) => void begin(event.currentTarget)}
            >
              {state === "restoring" ? "Restoring…" : "Restore"}
            </button>
          )}
          {mayRestore && host.host.rights.includes("fork") && !image.once && (
            <button
              type="button"
              aria-label={`Branch from ${name}`}
              title="Starts a new session from this image; the existing one is not affected"
              disabled={state === "restoring"}
              onClick={(event) => void begin(event.currentTarget, true)}
            >
              As a branch
            </button>
          )}
          <button
            type="button"
            aria-label={`Remove ${name}`}
            disabled={state === "restoring"}
            onClick={() => setState("asking")}
          >
            Remove…
          </button>
        </span>
      )}
    </li>
  );
}

function Sure(props: {
  readonly image: ImageInfo;
  readonly isBusy: boolean;
  readonly yes: () => void;
  readonly no: () => void;
}) {
  return (
    <>
      <p role="alert">
        {props.image.once
          ? "This is the only image of a stopped session. Without it the session cannot be restored."
          : "This cannot be undone."}
      </p>
      <span class="approval-buttons">
        <button type="button" class="danger" disabled={props.isBusy} onClick={props.yes}>
          {props.isBusy ? "Removing…" : "Remove it"}
        </button>
        <button type="button" ref={(one) => one?.focus()} onClick={props.no}>
          Keep it
        </button>
      </span>
    </>
  );
}

/** Let a session go on from an image, and show it; false if that did not work. */
export async function restored(
  host: HostLink,
  image: ImageInfo,
  failed: (why: string) => void,
): Promise<boolean> {
  failed("");
  try {
    const made = await host.restore(image);
    livesBegun.value += 1;
    show({ is: "session", host: host.host.id, session: made.id });
    return true;
  } catch (error) {
    failed(imageTrouble(error));
    return false;
  }
}

/** Begin a new session that goes on from an image; false if that did not work. */
async function branched(
  host: HostLink,
  image: ImageInfo,
  failed: (why: string) => void,
): Promise<boolean> {
  failed("");
  try {
    const taken = (await host.sessions()).map((one) => one.name);
    const name = freeName(image.name, taken);
    const made = await host.branch(`${image.id}.${image.number}`, name);
    show({ is: "session", host: host.host.id, session: made.id });
    return true;
  } catch (error) {
    failed(imageTrouble(error));
    return false;
  }
}
