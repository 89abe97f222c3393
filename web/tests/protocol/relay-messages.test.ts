import { describe, expect, it } from "vitest";

import { WebCryptoSuite } from "../../src/platform/webcrypto.js";
import { readInvitation } from "../../src/protocol/invites.js";
import { verify } from "../../src/protocol/keys.js";
import { decodeOpening } from "../../src/protocol/opening.js";
import type { RecordKind } from "../../src/protocol/records.js";
import { readRecord, recordBytes } from "../../src/protocol/records.js";
import type { RelayMessage } from "../../src/protocol/relay-messages.js";
import {
  decodeRelayMessage,
  encodeRelayMessage,
  proofBytes,
  relayAddress,
} from "../../src/protocol/relay-messages.js";
import { base64url, fromHex, hex, joined, utf8 } from "../../src/protocol/text.js";
import { filled, vectors } from "../vectors.js";

const suite = new WebCryptoSuite();
const channel = vectors("crypto/vectors/channel.json");
const meeting = vectors("wire/vectors/relay_messages.json");
const code = (wanted: string) => expect.objectContaining({ code: wanted });

describe("what a relay and its peers say", () => {
  for (const one of meeting.messages) {
    it(`reads and writes ${one.fields.is}`, () => {
      const { is, ...body } = filled(one.fields) as { is: string };
      const read = decodeRelayMessage(fromHex(one.bytes));

      expect({ is: read.is, body: { ...read.body } }).toEqual({ is, body });
      expect(hex(encodeRelayMessage({ is, body } as unknown as RelayMessage))).toBe(one.bytes);
    });
  }

  meeting.refused.forEach((one: { bytes: string; name?: string }, at: number) => {
    it(`refuses what is not said so: ${one.name ?? at}`, () => {
      expect(() => decodeRelayMessage(fromHex(one.bytes))).toThrow(code("malformed-message"));
    });
  });

  for (const one of meeting.statements) {
    it(`proves a key as ${one.role}`, async () => {
      const identity = suite.identity(await suite.keysFrom(fromHex(one.seed)));
      const signed = proofBytes(
        one.role,
        one.relay,
        fromHex(one.nonce),
        ...one.wishes.map(fromHex),
      );

      expect(hex(signed)).toBe(one.statement);
      expect(hex(await identity.sign(signed))).toBe(one.signature);
      expect(await verify(suite, identity.public, signed, fromHex(one.signature))).toBe(true);
    });
  }
});

describe("the address of a relay", () => {
  it("is a name, and plain only on this machine", () => {
    const good: [string, string][] = [
      ["https://relay.example", "wss://relay.example/v1/operator"],
      ["https://relay.example:443/", "wss://relay.example/v1/operator"],
      ["https://relay.example:8443", "wss://relay.example:8443/v1/operator"],
      ["http://127.0.0.1:9000", "ws://127.0.0.1:9000/v1/operator"],
      ["http://localhost", "ws://localhost/v1/operator"],
      ["http://[::1]:9000", "ws://[::1]:9000/v1/operator"],
    ];
    for (const [url, socket] of good) expect(relayAddress(url)?.socket).toBe(socket);
  });

  it("is nothing else", () => {
    const bad = [
      "http://relay.example",
      "http://127.0.0.1.example",
      "http://127.1",
      "ws://x",
      "https://x/path",
      "https://x?q",
      "https://u@x",
      "https://x:0",
      "https://x:65536",
      "javascript:alert(1)",
      "",
      "https://x#f",
      "HTTPS://X",
      "http://127.00.0.1",
      `https://${"a".repeat(300)}`,
    ];
    for (const url of bad) expect(relayAddress(url), url).toBeNull();
  });
});

describe("an invitation", () => {
  const [one] = channel.invitations;

  it("is read as every implementation reads it, white space or not", async () => {
    const broken = one.link.replace(/(.{20})/g, "$1\n ");
    for (const link of [one.link, broken]) {
      const read = await readInvitation(suite, link);

      expect(hex(read.hostPublic)).toBe(one.host_public);
      expect([hex(read.id), hex(read.secret)]).toEqual([one.invite_id, one.secret]);
      expect(read.relays).toEqual(one.relays);
    }
  });

  it("is refused in a second spelling of the same bytes", async () => {
    const url = utf8("https://relay.example:8443");
    const said = joined(
      Uint8Array.of(1),
      new Uint8Array(64).fill(7),
      Uint8Array.of(1, url.length),
      url,
    );
    const raw = joined(said, (await suite.sha256(said)).subarray(0, 4));
    const fragment = base64url(raw);
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const other = letters[letters.indexOf(fragment.at(-1)!) + 1]!;

    expect(raw.length % 3).not.toBe(0);
    expect((await readInvitation(suite, `https://x/j#${fragment}`)).relays).toEqual([
      "https://relay.example:8443",
    ]);
    const second = readInvitation(suite, `https://x/j#${fragment.slice(0, -1)}${other}`);
    await expect(second).rejects.toHaveProperty("code", "malformed-invite");
  });

  it("is refused with any letter changed or missing, and shows none of it", async () => {
    const [place, fragment] = one.link.split("#");
    const wrong = [
      "",
      place,
      `${place}#`,
      `https://relay.example/x#${fragment}`,
      `${one.link}A`,
      `${one.link}=`,
    ];
    for (let at = 0; at < fragment.length; at += 1) {
      const letter = fragment[at] === "A" ? "B" : "A";
      wrong.push(`${place}#${fragment.slice(0, at)}${letter}${fragment.slice(at + 1)}`);
      wrong.push(`${place}#${fragment.slice(0, at)}${fragment.slice(at + 1)}`);
    }
    for (const link of wrong) {
      const error = await readInvitation(suite, link).catch((thrown: unknown) => thrown);
      expect(error, link).toHaveProperty("code", "malformed-invite");
      expect(String(error)).not.toContain(fragment.slice(60, 80));
    }
  });
});

describe("records and openings", () => {
  for (const one of channel.records) {
    it(`reads and writes a record of ${one.kind} with ${one.data.length / 2} bytes`, () => {
      const kind = ["CONFIRM", "DATA", "END"].indexOf(one.kind) as RecordKind;

      expect(hex(recordBytes(kind, fromHex(one.data)))).toBe(one.record);
      const read = readRecord(fromHex(one.record));
      expect([read.kind, hex(read.data)]).toEqual([kind, one.data]);
    });
  }

  it("refuses what is no record", () => {
    for (const raw of [
      "",
      "0000",
      "030000",
      "010000",
      "020001ff",
      "000001",
      "0100020a",
      "01000141ff",
    ]) {
      expect(() => readRecord(fromHex(raw)), raw).toThrow(code("malformed-message"));
    }
  });

  for (const one of channel.opening) {
    it(`reads: ${one.name}`, () => {
      expect(["open", "opened", "declined"]).toContain(decodeOpening(fromHex(one.message)).is);
    });
  }
});

describe("a public key", () => {
  it("that verifies what nobody signed is refused", async () => {
    const zeros = new Uint8Array(64);
    const low = [
      "00".repeat(32),
      `01${"00".repeat(31)}`,
      `ec${"ff".repeat(30)}7f`,
      `ee${"ff".repeat(30)}7f`,
    ];
    for (const key of low) expect(await verify(suite, fromHex(key), zeros, zeros)).toBe(false);
  });

  for (const one of vectors("crypto/vectors/ed25519.json").vectors) {
    it(`verifies ${one.name} of RFC 8032, and nothing near it`, async () => {
      const signature = fromHex(one.signature);
      const message = fromHex(one.message);

      expect(await verify(suite, fromHex(one.public), message, signature)).toBe(true);
      signature[0]! ^= 1;
      expect(await verify(suite, fromHex(one.public), message, signature)).toBe(false);
    });
  }
});
