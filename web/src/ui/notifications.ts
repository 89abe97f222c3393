/** Notifies a person who is not looking that a session needs them. */

import { signal } from "@preact/signals";

export const permission = signal<NotificationPermission | "none">("none");

/** Read the permission. */
export function lookAtPermission(): void {
  permission.value = "Notification" in globalThis ? Notification.permission : "none";
}

/** Ask for permission; only after a press. */
export async function askPermission(): Promise<void> {
  permission.value = await Notification.requestPermission();
}

/** Notify, unless the page is being looked at. One session has one notification. */
export function notifyAbout(session: string, text: string): void {
  if (permission.value !== "granted" || !document.hidden) {
    return;
  }
  const options = { body: text, tag: `holdfast-${session}`, icon: "/icon-192.png" };
  void navigator.serviceWorker?.getRegistration().then((worker) => {
    if (worker === undefined) {
      new Notification(session, options);
    } else {
      return worker.showNotification(session, options);
    }
    return undefined;
  });
}
