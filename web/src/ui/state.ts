/** The page's state: one place for it, as signals that components read. */

import { computed, signal } from "@preact/signals";
import type { HoldfastError, KnownHost, Page } from "../protocol/api.js";

export type Panel = "people" | "approvals" | "commands" | "graph" | "log";

export type Route =
  | { readonly is: "list" }
  | { readonly is: "join"; readonly link: string }
  | { readonly is: "session"; readonly host: string; readonly session: string };

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "bad";
}

export const page = signal<Page | null>(null);
export const hosts = signal<readonly KnownHost[]>([]);
export const route = signal<Route>({ is: "list" });
export const panel = signal<Panel | null>(null);
export const toasts = signal<readonly Toast[]>([]);
export const startError = signal<HoldfastError | Error | null>(null);
export const isOnline = signal(true);
/** The host that was joined last, until the user has read about it. */
export const justJoined = signal<{
  readonly host: KnownHost;
  readonly words: string;
} | null>(null);
/** How many lives of sessions were begun from here: who is attached attaches anew. */
export const livesBegun = signal(0);
export const linkToOpen = signal<URL | null>(null);

/** Whether the terminal is shown as text, to select from. */
export const isSelecting = signal(false);

export const isNarrow = signal(false);
/** Whether the header has room for tabs; else its menu has them. */
export const hasTabs = signal(true);
export const hasPage = computed(() => page.value !== null);

const TOAST_MS = 6000;
let lastToast = 0;

/** Show a message for a moment. */
export function say(text: string, tone: Toast["tone"] = "plain"): void {
  const id = ++lastToast;
  const others = toasts.value.filter((one) => one.text !== text);
  toasts.value = [...others.slice(-2), { id, text, tone }];
  setTimeout(() => dismiss(id), TOAST_MS);
}

/** Remove a message. */
export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/** Do something that may be refused, and show why if it is. */
export async function attempt<Value>(work: Promise<Value>): Promise<Value | null> {
  try {
    return await work;
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "bad");
    return null;
  }
}
