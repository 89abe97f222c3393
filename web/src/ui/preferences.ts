/** Appearance settings, kept in this browser. */

import { effect, signal } from "@preact/signals";
import { type OwnKey, ownKeysFrom } from "../app/own-keys.js";
import { foldersFrom, MAX_FOLDERS } from "../app/recent-folders.js";

export type Theme = "system" | "dark" | "light";

const KEY = "holdfast.look";
const OWN_KEYS = "holdfast.keys";
const FOLDERS = "holdfast.folders";
export const MIN_FONT = 8;
export const MAX_FONT = 28;
const DEFAULT_FONT = 14;

export const theme = signal<Theme>("system");
export const fontSize = signal(DEFAULT_FONT);
export const isDark = signal(true);
export const ownKeys = signal<readonly OwnKey[]>([]);

/** Load the settings, and store changes from now on. */
export function keepPreferences(): void {
  const wish = matchMedia("(prefers-color-scheme: light)");
  read();
  const apply = (): void => {
    isDark.value = theme.value === "system" ? !wish.matches : theme.value === "dark";
    document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
  };
  wish.addEventListener("change", apply);
  effect(() => {
    apply();
    write(KEY, JSON.stringify({ theme: theme.value, font: fontSize.value }));
  });
  effect(() => write(OWN_KEYS, JSON.stringify(ownKeys.value)));
}

/** Make the text larger or smaller by a step. */
export function changeFont(step: number): void {
  fontSize.value = Math.min(MAX_FONT, Math.max(MIN_FONT, fontSize.value + step));
}

/** Switch between light and dark; what the system wishes is followed again from then on. */
export function nextTheme(): void {
  const next = isDark.value ? "light" : "dark";
  theme.value = matchMedia(`(prefers-color-scheme: ${next})`).matches ? "system" : next;
}

/** The folders in which sessions were started from here, the latest first. */
export function foldersOf(host: string): readonly string[] {
  return foldersFrom(stored(FOLDERS))[host] ?? [];
}

/** Remember a folder. */
export function keepFolder(host: string, folder: string): void {
  if (folder !== "") {
    const all = foldersFrom(stored(FOLDERS));
    const others = (all[host] ?? []).filter((one) => one !== folder);
    const kept = [folder, ...others].slice(0, MAX_FOLDERS);
    write(FOLDERS, JSON.stringify({ ...all, [host]: kept }));
  }
}

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function read(): void {
  try {
    ownKeys.value = ownKeysFrom(localStorage.getItem(OWN_KEYS));
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Record<string, unknown>;
    if (found["theme"] === "dark" || found["theme"] === "light") {
      theme.value = found["theme"];
    }
    if (typeof found["font"] === "number") {
      fontSize.value = Math.min(MAX_FONT, Math.max(MIN_FONT, found["font"]));
    }
  } catch {
    // Nothing stored, or nonsense: use the defaults.
  }
}

function write(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // Storage may be forbidden; the choice lasts until the page is closed.
  }
}
