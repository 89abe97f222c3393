/**
 * Rewrite the two things in xterm.js that a strict Content-Security-Policy forbids.
 *
 * It builds <style> elements and style attributes. Here the former become what
 * src/ui/own-style.ts makes, and the latter assignments to `style.cssText`, which
 * the policy lets through. If another version of xterm.js has more or fewer of
 * them, the build fails rather than the page.
 */

import type { Plugin } from "vite";

const ELEMENT = /\b[\w$.]+\.createElement\("style"\)/gu;
const ATTRIBUTE =
  /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/gu;
const EXPECTED = { elements: 3, attributes: 1 };

/** Return the plug-in for Vite. */
export function strictStyles(): Plugin {
  return {
    name: "strict-styles",
    enforce: "pre",
    transform(code, id) {
      if (!/@xterm\/xterm\/lib\/xterm\.mjs$/u.test(id.split("?")[0] ?? "")) {
        return null;
      }
      const elements = code.match(ELEMENT)?.length ?? 0;
      const attributes = code.match(ATTRIBUTE)?.length ?? 0;
      if (elements !== EXPECTED.elements || attributes !== EXPECTED.attributes) {
        throw new Error(`xterm.js has ${elements} style elements, ${attributes} attributes`);
      }
      const strict = code
        .replace(ELEMENT, "__ownStyle()")
        .replace(ATTRIBUTE, (_, element, rule) => `${element}.style.cssText+=\`;\${${rule}}\``);
      return {
        code: `import { ownStyle as __ownStyle } from "/src/ui/own-style.ts";\n${strict}`,
        map: null,
      };
    },
  };
}
