/** The folders that a new session might start in: used here before, and used there now. */

import type { SessionInfo } from "../protocol/api.js";

export const MAX_FOLDERS = 12;

/** Return folders, the latest first, each once. */
export function recentFolders(
  stored: readonly string[],
  sessions: readonly SessionInfo[],
): readonly string[] {
  const latest = [...sessions].sort((one, other) => other.createdMs - one.createdMs);
  const all = [...stored, ...latest.map((one) => one.cwd)];
  return [...new Set(all.filter((one) => one.startsWith("/") || one.startsWith("~")))].slice(
    0,
    MAX_FOLDERS,
  );
}

/** Return what is stored for each host; nonsense is nothing. */
export function foldersFrom(stored: string | null): Readonly<Record<string, readonly string[]>> {
  try {
    const found: unknown = JSON.parse(stored ?? "{}");
    const pairs = typeof found === "object" && found !== null ? Object.entries(found) : [];
    return Object.fromEntries(pairs.map(([host, list]) => [host, texts(list)]));
  } catch {
    return {};
  }
}

function texts(list: unknown): readonly string[] {
  const found = Array.isArray(list) ? list : [];
  return found.filter((one): one is string => typeof one === "string").slice(0, MAX_FOLDERS);
}
