/** The vectors that every implementation agrees on, as this repository has them. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { fromHex } from "../src/protocol/text.js";

const ROOT = fileURLToPath(new URL("../../tests", import.meta.url));

// What a file holds is for each test to know.
export function vectors(path: string): any {
  return JSON.parse(readFileSync(`${ROOT}/${path}`, "utf-8"));
}

/** Turn {"bytes": "…"} into bytes, wherever it stands. */
export function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value);
  const [only] = entries;
  if (entries.length === 1 && only![0] === "bytes") return fromHex(only![1] as string);
  return Object.fromEntries(entries.map(([name, one]) => [name, filled(one)]));
}
