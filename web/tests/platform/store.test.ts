import "fake-indexeddb/auto";

import { beforeEach, describe, expect, it } from "vitest";
import { clock } from "../../src/platform/clock.js";
import { IndexedDbStore } from "../../src/platform/store.js";
import { WebCryptoSuite } from "../../src/platform/webcrypto.js";
import { verify } from "../../src/protocol/keys.js";
import type { StoredHost } from "../../src/protocol/page.js";
import { LivePage } from "../../src/protocol/page.js";
import { hex, utf8 } from "../../src/protocol/text.js";

const suite = new WebCryptoSuite();
const HOST: StoredHost = {
  id: "h_".padEnd(34, "a"),
  name: "box",
  operator: "anna",
  relays: ["https://relay.example"],
  rights: ["observe"],
  session: "",
  expiresMs: null,
  fingerprint: "aaaa-bbbb-cccc-dddd",
  publicKey: new Uint8Array(32).fill(1),
  staticKey: new Uint8Array(32).fill(2),
};
const nobody = () => Promise.reject(new Error("nobody is dialled here"));

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

async function opened(): Promise<LivePage> {
  return LivePage.open({ suite, dial: nobody, clock }, await IndexedDbStore.open(suite), "");
}

describe("our keys", () => {
  it("are the same the next time, and sign", async () => {
    const first = await IndexedDbStore.open(suite);
    const made = await first.identity();
    first.close();
    const second = await IndexedDbStore.open(suite);
    const found = await second.identity();

    expect(hex(found.public)).toBe(hex(made.public));
    expect(hex(found.static.public)).toBe(hex(made.static.public));
    expect(await verify(suite, made.public, utf8("x"), await found.sign(utf8("x")))).toBe(true);
    second.close();
  });

  it("are one for two tabs that begin at once", async () => {
    const tabs = await Promise.all([1, 2, 3].map(() => IndexedDbStore.open(suite)));

    const keys = await Promise.all(tabs.map(async (tab) => hex((await tab.identity()).public)));

    expect(new Set(keys).size).toBe(1);
    tabs.forEach((tab) => tab.close());
  });
});

describe("the address book", () => {
  it("keeps hosts, renames and forgets them", async () => {
    const store = await IndexedDbStore.open(suite);
    await store.put(HOST);
    store.close();
    const page = await opened();

    expect(page.hosts().map((one) => one.name)).toEqual(["box"]);
    expect(page.hosts()[0]).not.toHaveProperty("staticKey");
    await page.rename(HOST.id, "other\u202e");
    expect(page.link(HOST.id).host.name).toBe("other");
    await page.forget(HOST.id);
    expect(page.hosts()).toEqual([]);
    expect(() => page.link(HOST.id)).toThrow(expect.objectContaining({ code: "host-not-known" }));
    page.close();
  });

  it("is the same in every tab", async () => {
    const [one, other] = [await opened(), await opened()];
    const told = new Promise<number>((fulfil) => other.listen((hosts) => fulfil(hosts.length)));
    const store = await IndexedDbStore.open(suite);
    await store.put(HOST);

    expect(await told).toBe(1);
    [one, other, store].forEach((each) => each.close());
  });

  it("refuses what is no invitation, without a word of it", async () => {
    const page = await opened();

    await expect(page.join("https://relay.example/j#AAAA")).rejects.toHaveProperty(
      "code",
      "malformed-invite",
    );
    expect(page.hosts()).toEqual([]);
    page.close();
  });
});
