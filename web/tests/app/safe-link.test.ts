import { expect, test } from "vitest";
import { safeLink } from "../../src/app/safe-link.js";

test.each(["http://example.org/a?b#c", "https://example.org:8443/"])("%s may be opened", (text) => {
  expect(safeLink(text)?.href).toBe(text);
});

test.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "file:///etc/passwd",
  "ssh://example.org",
  "vbscript:x",
  "blob:https://example.org/1",
  "//example.org",
  "https://bank.example@evil.example/",
  "https://user:secret@example.org/",
  "https://",
  `https://example.org/${"a".repeat(3000)}`,
])("%s is never opened", (text) => {
  expect(safeLink(text)).toBeNull();
});
