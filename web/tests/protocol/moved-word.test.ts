import { describe, expect, it } from "vitest";

import { WebCryptoSuite } from "../../src/platform/webcrypto.js";
import { readMovedWord } from "../../src/protocol/moved-word.js";
import { base64url, fromHex, joined, utf8 } from "../../src/protocol/text.js";
import { vectors } from "../vectors.js";

const suite = new WebCryptoSuite();
const known = vectors("crypto/vectors/channel.json").moved;
const host = fromHex(known.said_by);

function read(text: string, session = known.session, key = host) {
  return readMovedWord(suite, text, session, key).catch((error) => error.code);
}

/** A word that a host has really signed, whatever is in it. */
async function signed(payload: Uint8Array): Promise<[string, Uint8Array]> {
  const own = suite.identity(await suite.newKeys());
  const signature = await own.sign(joined(utf8("holdfast-moved-1\n"), payload));
  return [`holdfast-moved-1.${base64url(payload)}.${base64url(signature)}`, own.public];
}

describe("a word about a move", () => {
  it("is read as everywhere", async () => {
    expect(await read(known.word)).toEqual({
      session: known.session,
      life: known.life,
      host: known.host,
      public: fromHex(known.public),
      static: fromHex(known.static),
      relays: known.relays,
    });
  });

  it("is not believed about another session, or by another host", async () => {
    expect(await read(known.word, "s_otherotherother")).toBe("token-forged");
    expect(await read(known.word, known.session, fromHex(known.public))).toBe("token-forged");
  });

  it("is not believed with any letter changed, left out or added", async () => {
    for (let at = 0; at < known.word.length; at += 7) {
      const other = known.word[at] === "A" ? "B" : "A";
      const [before, after] = [known.word.slice(0, at), known.word.slice(at + 1)];
      expect(await read(before + other + after), `at ${at}`).toBe("token-forged");
    }
    expect(await read(`${known.word}=`)).toBe("token-forged");
    expect(await read(`${known.word}.e30`)).toBe("token-forged");
    expect(await read(known.word.slice(0, -1))).toBe("token-forged");
    expect(await read("x".repeat(5000))).toBe("token-forged");
    expect(await read("")).toBe("token-forged");
  });

  it.each([
    "nonsense",
    "null",
    "[]",
    "{}",
    `{"session":"${known.session}","life":1,"host":"beta"}`,
    `{"session":"${known.session}","life":1,"host":"beta","public":"aa","static":"aa"}`,
    `{"session":"${known.session}","life":"1","host":"beta"}`,
  ])("is not believed if it is signed and makes no sense: %s", async (payload) => {
    const [text, key] = await signed(utf8(payload));

    expect(await read(text, known.session, key)).toBe("token-forged");
  });

  it("leads by no relay that is none", async () => {
    const { session, host: name, public: open, static: fixed } = known;
    const relays = "https://one.example javascript:alert(1) http://evil.example";
    const said = { host: name, life: 1, public: open, relays, session, static: fixed };
    const [text, key] = await signed(utf8(JSON.stringify(said)));

    expect((await readMovedWord(suite, text, session, key)).relays).toEqual([
      "https://one.example",
    ]);
  });
});
