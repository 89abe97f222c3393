/** A relay, a host and its sessions, run by tests/scenarios/stage.py. */

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { WebSocket as NodeSocket } from "ws";

import { clock } from "../../src/platform/clock.js";
import { WebCryptoSuite } from "../../src/platform/webcrypto.js";
import type { Sockets } from "../../src/platform/websocket.js";
import { dialBy } from "../../src/platform/websocket.js";
import type { SessionEvent, SessionLink } from "../../src/protocol/api.js";
import { hostId } from "../../src/protocol/ids.js";
import type { Store, StoredHost } from "../../src/protocol/page.js";
import { LivePage } from "../../src/protocol/page.js";
import { fromHex, shownUtf8 } from "../../src/protocol/text.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PYTHON = process.env["HOLDFAST_PYTHON"] ?? `${ROOT}/.venv/bin/python`;

export class Stage {
  private constructor(
    private readonly process: ChildProcess,
    private readonly lines: AsyncIterator<string>,
    readonly relay: string,
  ) {}

  static async open(): Promise<Stage> {
    const words = ["-m", "tests.scenarios.stage"];
    const child = spawn(PYTHON, words, { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const first = await lines.next();
    return new Stage(child, lines, JSON.parse(first.value as string).relay);
  }

  /** Do something there; what comes of it is for whoever tells to know. */
  async tell<Answer = string>(...words: readonly string[]): Promise<Answer> {
    this.process.stdin!.write(`${JSON.stringify(words)}\n`);
    return JSON.parse((await this.lines.next()).value as string);
  }

  async close(): Promise<void> {
    const gone = new Promise((fulfil) => this.process.once("exit", fulfil));
    this.process.stdin!.end();
    await gone;
  }
}

/** An address book in memory, with keys of its own. */
export class MemoryStore implements Store {
  private readonly kept = new Map<string, StoredHost>();
  private readonly keys: ReturnType<WebCryptoSuite["newKeys"]>;

  constructor(private readonly suite: WebCryptoSuite) {
    this.keys = suite.newKeys();
  }

  async identity() {
    return this.suite.identity(await this.keys);
  }
  async hosts() {
    return [...this.kept.values()];
  }
  async put(host: StoredHost) {
    this.kept.set(host.id, host);
  }
  async remove(id: string) {
    this.kept.delete(id);
  }
  listen() {
    return () => undefined;
  }
  close() {}
}

/** Every socket that was opened, so that a test can cut one in the middle. */
export const sockets: NodeSocket[] = [];

class Watched extends NodeSocket {
  constructor(url: string) {
    super(url, { perMessageDeflate: false });
    sockets.push(this);
  }
}

const suite = new WebCryptoSuite();
const world = { suite, dial: dialBy(Watched as unknown as Sockets), clock };

export async function somebody(store: Store = new MemoryStore(suite)): Promise<LivePage> {
  return LivePage.open(world, store, "");
}

/** Somebody who takes an odd host for one of its own. */
export async function whoKnows(stage: Stage, oddity: string): Promise<[LivePage, string]> {
  const store = new MemoryStore(suite);
  const { actor } = await somebody(store);
  const keys = await stage.tell<{ public: string; static: string }>("odd-host", actor, oddity);
  const id = await hostId(suite, fromHex(keys.public));
  await store.put({
    id,
    name: oddity,
    operator: "anna",
    relays: [stage.relay],
    rights: [],
    session: "",
    expiresMs: null,
    fingerprint: "",
    publicKey: fromHex(keys.public),
    staticKey: fromHex(keys.static),
  });
  return [await somebody(store), id];
}

/** Wait until something is so. */
export async function eventually(
  what: string,
  isSo: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (performance.now() < deadline) {
    if (await isSo()) return;
    await new Promise((fulfil) => setTimeout(fulfil, 10));
  }
  throw new Error(`it never came to this: ${what}`);
}

/** What a viewer has seen: every byte by its offset, and every event. */
export class Viewer {
  readonly events: SessionEvent[] = [];
  text = "";
  pictures = 0;
  end = -1;
  holes = 0;
  delay = 0;
  readonly stop: () => void;

  constructor(readonly link: SessionLink) {
    this.stop = link.listen((event) => this.hear(event));
  }

  private hear(event: SessionEvent): void | Promise<void> {
    if (event.is === "printed") {
      if (this.end >= 0 && event.offset !== this.end) this.holes += 1;
      this.end = event.offset + event.data.length;
      this.text += shownUtf8(event.data);
      if (this.text.length > 1_000_000) this.text = this.text.slice(-500_000);
      if (this.delay > 0) return new Promise((fulfil) => setTimeout(fulfil, this.delay));
      return undefined;
    }
    if (event.is === "painted") {
      if (event.isFirst) {
        this.pictures += 1;
        this.text = "";
      }
      this.end = event.offset;
      this.text += shownUtf8(event.data);
      return undefined;
    }
    this.events.push(event);
    return undefined;
  }

  saw(is: SessionEvent["is"]): boolean {
    return this.events.some((event) => event.is === is);
  }

  async live(): Promise<void> {
    await eventually("it is live", () => this.link.state.is === "live");
  }

  async shows(text: string): Promise<void> {
    await eventually(`it shows ${text}`, () => this.text.includes(text));
  }
}
