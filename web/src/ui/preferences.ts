/** Appearance settings, kept in this browser. */

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "dark" | "light";

const KEY = "holdfast.look";
export const MIN_FONT = 8;
export const MAX_FONT = 28;
const DEFAULT_FONT = 14;

export const theme = signal<Theme>("system");
export const fontSize = signal(DEFAULT_FONT);
export const isDark = signal(true);

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
    write(JSON.stringify({ theme: theme.value, font: fontSize.value }));
  });
}

/** Make the text larger or smaller by a step. */
export function changeFont(step: number): void {
  fontSize.value = Math.min(MAX_FONT, Math.max(MIN_FONT, fontSize.value + step));
}

/** Switch to the next theme. */
export function nextTheme(): void {
  theme.value = isDark.value ? "light" : "dark";
}

function read(): void {
  try {
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

function write(text: string): void {
  try {
    localStorage.setItem(KEY, text);
  } catch {
    // Storage may be forbidden; the choice lasts until the page is closed.
  }
}
