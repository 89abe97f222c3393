/**
 * A real browser, driven line by line: JSON in, JSON out.
 *
 *   {"id": 1, "page": "anna", "do": "open", "args": [{"width": 390, …}]}
 *   {"id": 2, "page": "anna", "do": "click", "args": ["text=Join"]}
 *   {"id": 3, "page": "anna", "do": "trouble", "args": []}
 *
 * Each page has a context of its own, and so a key of its own. `do` is a method
 * of Playwright's Page, with dots into its parts; what cannot be written as JSON
 * is answered with null. `devtools` says something in the words of Chromium's own
 * protocol. `axe` returns what axe-core finds wrong for people who cannot see or have no
 * mouse, serious or worse. `trouble` returns everything that went wrong in a page:
 * errors, what the policy forbade, and dialogs, which only an attack would open.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const PATIENCE_MS = 15_000;
const STEP_MS = 20;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    ...["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    // Its own business, which only takes time, and which a closed network refuses.
    ...[
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
    // A name that is this machine, and that no browser takes for it.
    "--host-resolver-rules=MAP elsewhere.example 127.0.0.1",
  ],
});
const pages = new Map();
const troubles = new Map();
const conversations = new WeakMap();

async function open(name, wishes) {
  const { permissions = [], origin, before = "", ...options } = wishes;
  const context = await browser.newContext(options);
  // What a browser is to be like before any page is in it.
  await context.addInitScript(before);
  await context.grantPermissions(permissions, origin === undefined ? {} : { origin });
  const page = await context.newPage();
  const trouble = [];
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("pageerror", (error) => trouble.push(`error: ${error.stack ?? error}`));
  page.on("console", (message) => {
    // A relay that was killed refuses connections: that is the test's own doing.
    if (message.type() === "error" && !/ERR_CONNECTION_|WebSocket/.test(message.text())) {
      trouble.push(`console: ${message.text()}`);
    }
  });
  page.on("dialog", (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  pages.set(name, page);
  troubles.set(name, trouble);
}

/** Wait until an expression is true: Playwright's own way needs what the policy forbids. */
async function until(page, expression) {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    if (await page.evaluate(expression)) {
      return true;
    }
    await new Promise((done) => setTimeout(done, STEP_MS));
  }
  throw new Error(`it never came to this: ${expression}`);
}

/** One conversation for each page: with its end, a finger would leave the glass. */
function devtools(page) {
  const found = conversations.get(page) ?? page.context().newCDPSession(page);
  conversations.set(page, found);
  return found;
}

/** What axe finds that is serious or worse: the rule, and where. */
async function axe(page) {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8"));
  const { violations } = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
  return violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}

async function perform({ page: name, do: what, args }) {
  if (what === "open") {
    return open(name, args[0] ?? {});
  }
  if (what === "trouble") {
    return troubles.get(name).splice(0);
  }
  if (what === "devtools") {
    return (await devtools(pages.get(name))).send(args[0], args[1] ?? {});
  }
  if (what === "axe") {
    return axe(pages.get(name));
  }
  if (what === "until") {
    return until(pages.get(name), args[0]);
  }
  if (what === "close") {
    const page = pages.get(name);
    pages.delete(name);
    return page.context().close();
  }
  if (what === "close-all") {
    await Promise.all([...pages.values()].map((page) => page.context().close()));
    pages.clear();
    return null;
  }
  const path = what.split(".");
  const method = path.pop();
  const owner = path.reduce(
    (part, key) => (typeof part[key] === "function" ? part[key]() : part[key]),
    pages.get(name),
  );
  return owner[method](...args);
}

/** What a page shows when something in it has failed: whoever reads that wants to know. */
async function evidence(name) {
  try {
    const shown = await pages.get(name).evaluate("document.body.innerText");
    return `the page shows:\n${shown.slice(0, 1500)}\nits trouble: ${troubles.get(name).join("; ")}`;
  } catch {
    return "";
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  let answer;
  try {
    const found = await perform(command);
    const isPlain =
      found === undefined ||
      found === null ||
      Object(found) !== found ||
      Array.isArray(found) ||
      found.constructor === Object;
    answer = { id: command.id, value: isPlain ? (found ?? null) : null };
  } catch (error) {
    answer = {
      id: command.id,
      error: `${error?.message ?? error}\n${await evidence(command.page)}`,
    };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
