/** Starts the page. */

import { render } from "preact";
import { openPage } from "../platform/page.js";
import { App } from "./app.js";
import { lookAtPermission } from "./notifications.js";
import { keepPreferences } from "./preferences.js";
import { followAddress } from "./route.js";
import { hasTabs, hosts, isNarrow, isOnline, page, startError } from "./state.js";
import "./styles/base.css";
import "./styles/list.css";
import "./styles/session.css";
import "./styles/header.css";
import "./styles/phone.css";
import "./styles/panels.css";

const NARROW = "(max-width: 760px), (pointer: coarse)";
const ROOMY = "(min-width: 1000px)";

async function start(): Promise<void> {
  keepPreferences();
  lookAtPermission();
  watchDevice();
  followAddress();
  render(<App />, document.getElementById("app") as HTMLElement);
  try {
    const found = await openPage();
    hosts.value = found.hosts();
    found.listen((known) => {
      hosts.value = known;
    });
    page.value = found;
  } catch (error) {
    startError.value = error instanceof Error ? error : new Error(String(error));
  }
}

function watchDevice(): void {
  const narrow = matchMedia(NARROW);
  const roomy = matchMedia(ROOMY);
  const look = (): void => {
    isNarrow.value = narrow.matches;
    hasTabs.value = roomy.matches && !narrow.matches;
    isOnline.value = navigator.onLine;
  };
  narrow.addEventListener("change", look);
  roomy.addEventListener("change", look);
  addEventListener("online", look);
  addEventListener("offline", look);
  addEventListener("online", () => page.value?.wake());
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) {
      page.value?.wake();
    }
  });
  look();
  void navigator.serviceWorker?.register(workerAddress()).catch(() => undefined);
}

/** The one script that the page names itself; the policy lets no text become another. */
function workerAddress(): string {
  const address = "/worker.js";
  const { trustedTypes } = globalThis as unknown as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy("holdfast", { createScriptURL: () => address });
  return policy?.createScriptURL(address) ?? address;
}

/** As much of it as we need; not every browser has it, and not every type library. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(text: string): string },
  ): { createScriptURL(text: string): string };
}

void start();
