import { describe, expect, it } from "vitest";

import { WebCryptoSuite } from "../../src/platform/webcrypto.js";
import { HoldfastError } from "../../src/protocol/errors.js";
import type { Guide } from "../../src/protocol/following.js";
import { Following } from "../../src/protocol/following.js";
import { hostId } from "../../src/protocol/ids.js";
import type { HostKeys } from "../../src/protocol/reaching.js";
import { fromHex } from "../../src/protocol/text.js";
import { MOVING_MS } from "../../src/protocol/whereabouts.js";
import { vectors } from "../vectors.js";

const suite = new WebCryptoSuite();
const known = vectors("crypto/vectors/channel.json").moved;
const cut = new HoldfastError("not-reachable", "nobody is there");
const left = new HoldfastError("session-left", "it has moved", { word: known.word });

/** What a page would be asked for. */
class Book implements Guide {
  readonly remembered: string[] = [];
  readonly lookedUp: string[] = [];

  async lookUp(host: string) {
    this.lookedUp.push(host);
    return { exit: 0 };
  }
  async wayTo(word: { readonly public: Uint8Array; readonly static: Uint8Array }) {
    const id = await hostId(suite, word.public);
    return { id, public: word.public, static: word.static, relays: [] };
  }
  async remember(word: { readonly host: string }, from: string) {
    this.remembered.push(`${word.host} after ${from}`);
  }
}

function begun(key = known.said_by): [Following, Book] {
  const home: HostKeys = { id: "alpha", public: fromHex(key), static: fromHex(key), relays: [] };
  const book = new Book();
  return [new Following(suite, book, known.session, home), book];
}

describe("following a session", () => {
  it("goes where the host that it left says, and remembers that host once it is there", async () => {
    const [following, book] = begun();

    expect(await following.heard(left, 0)).toBe(left);

    const there = await hostId(suite, fromHex(known.public));
    expect([following.host.id, following.destination(1)]).toEqual([there, "beta"]);
    expect([book.remembered, following.home]).toEqual([[], "alpha"]);
    await following.found();
    await following.found();
    expect(following.home).toBe(there);
    expect(book.remembered).toEqual(["beta after alpha"]);
    expect([following.host.id, following.destination(1)]).toEqual([there, ""]);
    await following.lookUp();
    expect(book.lookedUp).toEqual([there]);
  });

  it("remembers nothing of a move that came to nothing", async () => {
    const [following, book] = begun();
    await following.heard(left, 0);
    await following.heard(cut, 1);
    expect(following.host.id).toBe("alpha");

    await following.found();

    expect(book.remembered).toEqual([]);
    expect(following.host.id).toBe("alpha");
  });

  it("goes nowhere by the word of somebody else", async () => {
    const [following] = begun(known.public);

    expect((await following.heard(left, 0)).code).toBe("token-forged");
    expect([following.host.id, following.destination(1)]).toEqual(["alpha", ""]);
    const wordless = new HoldfastError("session-left", "it has moved");
    expect((await following.heard(wordless, 0)).code).toBe("token-forged");
  });

  it("says where it went if it is not found there in time", async () => {
    const [following] = begun();
    expect(following.told(cut)).toBe(cut);
    await following.heard(left, 0);
    await following.heard(cut, MOVING_MS);

    expect(following.destination(MOVING_MS)).toBe("");
    expect(following.told(cut)).toMatchObject({ code: "session-moved", facts: { host: "beta" } });
    expect(following.failure("revoked")).toBe("elsewhere");
  });

  it("shows a session whose new host cannot be kept", async () => {
    const [following, book] = begun();
    book.remember = () => Promise.reject(new Error("the store is full"));
    await following.heard(left, 0);

    await following.found();

    expect(following.host.id).not.toBe("alpha");
    expect(following.home).toBe("alpha");
  });
});
