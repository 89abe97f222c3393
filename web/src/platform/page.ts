/**
 * The page in a browser: start here.
 */

import type { Page } from "../protocol/api.js";
import { HoldfastError } from "../protocol/errors.js";
import { LivePage } from "../protocol/page.js";
import { clock } from "./clock.js";
import { IndexedDbStore } from "./store.js";
import { WebCryptoSuite } from "./webcrypto.js";
import { dialBy } from "./websocket.js";

/**
 * Open keys and address book. Refused with `browser-lacks` where the browser has not
 * got the primitives, and with `browser-keeps-nothing` where it stores nothing.
 */
export async function openPage(): Promise<Page> {
  await demandPrimitives();
  const suite = new WebCryptoSuite();
  const store = await IndexedDbStore.open(suite);
  const page = await LivePage.open({ suite, dial: dialBy(), clock }, store, location.origin);
  // Asked once, so that the browser does not throw our keys away when it is short of
  // room; whatever it answers, we go on.
  void navigator.storage?.persist?.().catch(() => false);
  wakeWithTheTab(page);
  return page;
}

async function demandPrimitives(): Promise<void> {
  try {
    await crypto.subtle.generateKey("X25519", false, ["deriveBits"]);
    await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  } catch {
    const text = globalThis.isSecureContext
      ? "this browser has no X25519 or Ed25519"
      : "this page was not opened over https, or on this machine";
    const nextStep = "Use a newer browser, and open the page over https.";
    const advice = { retryable: false, nextStep };
    throw new HoldfastError("browser-lacks", text, {}, advice);
  }
}

/** Timers sleep with a tab; what tells of its waking does not. */
function wakeWithTheTab(page: Page): void {
  addEventListener("online", () => page.wake());
  addEventListener("pageshow", () => page.wake());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") page.wake();
  });
}
