import type { AddressInfo } from "node:net";

import { afterEach, describe, expect, it } from "vitest";
import type { WebSocket as Peer } from "ws";
import { WebSocket as NodeSocket, WebSocketServer } from "ws";
import { clock } from "../../src/platform/clock.js";
import { WebCryptoSuite } from "../../src/platform/webcrypto.js";
import type { Sockets } from "../../src/platform/websocket.js";
import { dialBy } from "../../src/platform/websocket.js";
import { HoldfastError } from "../../src/protocol/errors.js";
import { hostId } from "../../src/protocol/ids.js";
import type { Dialler, HostKeys } from "../../src/protocol/reaching.js";
import { backOff, failureOf, heardReason, reachHost } from "../../src/protocol/reaching.js";
import { encodeRelayMessage } from "../../src/protocol/relay-messages.js";

const suite = new WebCryptoSuite();
const servers: WebSocketServer[] = [];
const NONCE = new Uint8Array(32);

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.clients.forEach((client) => client.terminate());
    server.close();
  }
});

/** A relay that behaves as it is told; returns its address. */
async function relay(behave: (peer: Peer) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  servers.push(server);
  server.on("connection", behave);
  await new Promise((fulfil) => server.once("listening", fulfil));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const greet = (peer: Peer, version = 1) =>
  peer.send(encodeRelayMessage({ is: "greet", body: { version, nonce: NONCE } }));

async function dialler(): Promise<Dialler> {
  const us = suite.identity(await suite.newKeys());
  const world = { suite, dial: dialBy(NodeSocket as unknown as Sockets), clock };
  return { world, us, actor: "a_".padEnd(34, "a"), ways: new Map() };
}

async function reached(...relays: string[]): Promise<string> {
  const keys = suite.identity(await suite.newKeys());
  const id = await hostId(suite, keys.public);
  const host: HostKeys = { id, public: keys.public, static: keys.static.public, relays };
  return reachHost(await dialler(), host).then(
    () => "reached",
    (error: unknown) => (error instanceof HoldfastError ? error.code : String(error)),
  );
}

describe("a relay that is none, or a bad one", () => {
  it("is told from one that is not there", async () => {
    expect(await reached("http://127.0.0.1:1")).toBe("relay-unreachable");
    expect(await reached("http://example.org")).toBe("malformed-invite");
    expect(await reached()).toBe("host-unreachable");
  });

  it.each([
    ["speaks another version", "no-common-version", (peer: Peer) => greet(peer, 2)],
    ["says nonsense", "malformed-message", (peer: Peer) => peer.send(Buffer.from("nonsense"))],
    ["sends a text", "malformed-message", (peer: Peer) => peer.send("hello")],
    ["sends too much", "malformed-message", (peer: Peer) => peer.send(Buffer.alloc(70_000))],
    ["hangs up", "link-ended", (peer: Peer) => peer.close()],
    [
      "greets twice",
      "unexpected-message",
      (peer: Peer) => {
        greet(peer);
        greet(peer);
      },
    ],
    [
      "refuses",
      "not-reachable",
      (peer: Peer) => {
        greet(peer);
        peer.send(
          encodeRelayMessage({
            is: "refused",
            body: { code: "not-reachable", text: "no", facts: {} },
          }),
        );
      },
    ],
    [
      "says that the host revoked us",
      "revoked",
      (peer: Peer) => {
        greet(peer);
        peer.close(4000, "revoked");
      },
    ],
    [
      "joins us with nobody",
      "handshake-failed",
      (peer: Peer) => {
        greet(peer);
        peer.send(encodeRelayMessage({ is: "joined", body: { host: "h_".padEnd(34, "a") } }));
        peer.on("message", () => peer.send(Buffer.alloc(144, 0x55)));
      },
    ],
  ] as const)("which %s is an error: %s", async (_, code, behave) => {
    expect(await reached(await relay(behave))).toBe(code);
  });

  it("is passed over for one that knows more", async () => {
    const dead = "http://127.0.0.1:1";
    const other = await relay((peer) => greet(peer, 2));

    expect(await reached(other, dead)).toBe("no-common-version");
    expect(await reached(dead, other)).toBe("no-common-version");
  });

  it("is told no secret: it sees a key, a target and a proof for this link alone", async () => {
    const heard: Buffer[] = [];
    const url = await relay((peer) => {
      greet(peer);
      peer.on("message", (data: Buffer) => {
        heard.push(data);
        peer.close();
      });
    });
    await reached(url);

    expect(heard).toHaveLength(1);
    expect(heard[0]!.length).toBeLessThan(220);
  });
});

describe("what to do about an error", () => {
  it("depends on whether waiting helps", () => {
    const kinds: [string, ReturnType<typeof failureOf>][] = [
      ["no-common-version", "version"],
      ["revoked", "revoked"],
      ["wrong-identity", "wrong-host"],
      ["session-not-found", "gone"],
      ["not-allowed", "refused"],
      ["link-ended", null],
      ["not-reachable", null],
      ["relay-unreachable", null],
      ["seal-broken", null],
      ["handshake-failed", null],
    ];
    for (const [code, wanted] of kinds)
      expect(failureOf(new HoldfastError(code, "")), code).toBe(wanted);
  });

  it("follows the reason of a closing only where it is one of ours", () => {
    const ended = (why: string) => heardReason(new HoldfastError("link-ended", "", { why })).code;

    expect(ended("revoked")).toBe("revoked");
    expect(ended("not-allowed")).toBe("link-ended");
    expect(ended("")).toBe("link-ended");
  });

  it("is to wait longer each time, and never for long", async () => {
    const { world } = await dialler();
    const waits = Array.from({ length: 40 }, (_, at) => backOff(world, at + 1));

    expect(waits[0]).toBeLessThanOrEqual(125);
    expect(Math.max(...waits)).toBeLessThanOrEqual(18_750);
    expect(waits[10]).toBeGreaterThan(waits[2]!);
  });
});
