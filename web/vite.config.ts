/** How the page is built: into the Python package, which serves it from there. */

import { defineConfig } from "vite";
import { strictStyles } from "./build/strict-styles.js";

export default defineConfig({
  plugins: [strictStyles()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../src/holdfast/webpage",
    emptyOutDir: true,
    // Data URLs in style sheets are one more thing for the policy to allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
});
