import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const SHEET = readFileSync(new URL("../../src/ui/styles/base.css", import.meta.url), "utf8");
const ENOUGH = 4.5; // WCAG AA, for letters of ordinary size.

/** Every text of the page, and the grounds that it stands on. */
const PAIRS: readonly (readonly [string, readonly string[]])[] = [
  ["text", ["ground", "raised", "sunken", "needs-ground", "busy-ground", "cold-ground"]],
  ["faint", ["ground", "raised", "sunken", "cold-ground"]],
  ["danger", ["danger-ground", "raised", "sunken"]],
  ["needs", ["needs-ground", "raised"]],
  ["cold", ["cold-ground"]],
  ["busy", ["busy-ground"]],
  ["calm", ["calm-ground", "raised"]],
  ["over", ["over-ground"]],
  ["on-accent", ["accent"]],
  ...Array.from(
    { length: 9 },
    (_, hue) => [`hue-${hue}`, ["raised", "sunken", "needs-ground"]] as const,
  ),
];

function coloursOf(theme: "dark" | "light"): Map<string, string> {
  const [dark = "", light = ""] = SHEET.split('[data-theme="light"]');
  const found = (theme === "dark" ? dark : (light.split("}")[0] ?? "")).matchAll(
    /--([a-z0-9-]+):\s*(#[0-9a-f]{6})/gu,
  );
  return new Map([...found].map((one) => [one[1] ?? "", one[2] ?? ""]));
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, bright = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}

for (const theme of ["dark", "light"] as const) {
  const colours = coloursOf(theme);
  for (const [text, grounds] of PAIRS) {
    test.each(grounds)(`${text} can be read on %s in the ${theme} theme`, (ground) => {
      const ratio = contrast(colours.get(text) ?? "", colours.get(ground) ?? "");

      expect(ratio).toBeGreaterThanOrEqual(ENOUGH);
    });
  }
}
