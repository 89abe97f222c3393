import { describe, expect, it } from "vitest";

import { WebCryptoSuite } from "../../src/platform/webcrypto.js";
import type { Established, Handshake } from "../../src/protocol/handshake.js";
import { invitePsk, Joining, Opening, statement } from "../../src/protocol/handshake.js";
import { actorId, hostId, shortFingerprint, spokenFingerprint } from "../../src/protocol/ids.js";
import { CipherState, HandshakeState, IK, XXPSK3 } from "../../src/protocol/noise.js";
import type { KeyAgreement, Suite } from "../../src/protocol/ports.js";
import { prologue, RecordKind } from "../../src/protocol/records.js";
import { fromHex, hex, shownUtf8, utf8 } from "../../src/protocol/text.js";
import { vectors } from "../vectors.js";

const suite = new WebCryptoSuite();
const known = vectors("crypto/vectors/channel.json");
const host = known.identities.host;

async function us() {
  return suite.identity(await suite.keysFrom(fromHex(known.identities.operator.seed)));
}

async function ephemeral(secret: string): Promise<KeyAgreement> {
  return suite.agreement(...(await suite.agreeing(fromHex(secret))));
}

async function begin(purpose: "attach" | "join"): Promise<Handshake> {
  const own = await ephemeral(known[purpose].operator_ephemeral);
  if (purpose === "attach") {
    const keys = { public: fromHex(host.public), static: fromHex(host.static_public) };
    return Opening.of(suite, await us(), keys, own);
  }
  const invite = { id: fromHex(known.join.invite_id), secret: fromHex(known.join.secret) };
  return Joining.of(suite, await us(), fromHex(host.public), invite, own);
}

async function finished(purpose: "attach" | "join"): Promise<Established> {
  const handshake = await begin(purpose);
  await handshake.first();
  return (await handshake.last(fromHex(known[purpose].messages[1])))[1];
}

describe("identities", () => {
  it("make the same keys and ids of a seed as everywhere", async () => {
    const identity = await us();
    const wanted = known.identities.operator;

    expect(hex(identity.public)).toBe(wanted.public);
    expect(hex(identity.static.public)).toBe(wanted.static_public);
    expect(await actorId(suite, identity.public)).toBe(wanted.id);
    expect(await hostId(suite, fromHex(host.public))).toBe(host.id);
    expect(await shortFingerprint(suite, identity.public)).toBe(wanted.short_fingerprint);
    expect(await spokenFingerprint(suite, identity.public)).toBe(wanted.spoken_fingerprint);
  });

  it("keep their private keys to themselves, and overwrite the seed", async () => {
    const seed = suite.random(32);
    const keys = await suite.keysFrom(seed);

    expect(keys.signing.extractable || keys.agreeing.extractable).toBe(false);
    await expect(crypto.subtle.exportKey("pkcs8", keys.signing)).rejects.toThrow();
    expect(seed).toEqual(new Uint8Array(32));
  });

  for (const purpose of ["attach", "join"] as const) {
    it(`state who they are to ${purpose}`, async () => {
      const invite = purpose === "join" ? fromHex(known.join.invite_id) : undefined;
      const spoken = prologue(host.id, invite);

      expect(shownUtf8(spoken)).toBe(known[purpose].prologue);
      const said = await statement(suite, await us(), "operator", spoken);
      expect(hex(said)).toBe(known[purpose].operator_statement);
    });
  }

  it("derive the secret of an invitation", async () => {
    const invite = { id: fromHex(known.join.invite_id), secret: fromHex(known.join.secret) };

    expect(hex(await invitePsk(suite, invite))).toBe(known.join.psk);
  });
});

describe.each(["attach", "join"] as const)("a handshake to %s", (purpose) => {
  it("says what every implementation says", async () => {
    const handshake = await begin(purpose);

    expect(hex(await handshake.first())).toBe(known[purpose].messages[0]);
    const [last, made] = await handshake.last(fromHex(known[purpose].messages[1]));
    expect(hex(last)).toBe(known[purpose].messages[2]);
    expect(hex(made.binding)).toBe(known[purpose].binding);
    expect(hex(made.peerStatic)).toBe(host.static_public);
  });

  it("is followed by the frames that every implementation seals", async () => {
    const made = await finished(purpose);

    for (const frame of known[purpose].frames) {
      const kind = frame.kind === "END" ? RecordKind.end : RecordKind.data;
      const data = fromHex(frame.data);
      if (frame.from === "operator") {
        expect(hex(await made.outbound.seal(kind, data))).toBe(frame.message);
      } else {
        const record = await made.inbound.open(fromHex(frame.message));
        expect([record.kind, hex(record.data)]).toEqual([kind, frame.data]);
      }
    }
  });

  it("refuses an answer with any byte changed, cut or added (I2)", async () => {
    const reply = fromHex(known[purpose].messages[1]);
    const wrong = [
      reply.subarray(1),
      reply.subarray(0, -1),
      Uint8Array.of(...reply, 0),
      new Uint8Array(0),
    ];
    for (let at = 0; at < reply.length; at += 1) {
      const changed = Uint8Array.from(reply);
      changed[at]! ^= 1;
      wrong.push(changed);
    }
    for (const answer of wrong) {
      const handshake = await begin(purpose);
      await handshake.first();
      await expect(handshake.last(answer)).rejects.toHaveProperty("branch", "PeerError");
    }
  });

  it("goes nowhere after it has failed (I6)", async () => {
    const handshake = await begin(purpose);
    await handshake.first();
    await expect(handshake.last(new Uint8Array(144))).rejects.toThrow();

    const again = handshake.last(fromHex(known[purpose].messages[1]));
    await expect(again).rejects.toHaveProperty("code", "handshake-failed");
  });

  it("refuses a frame that is repeated, left out or changed", async () => {
    const frames = known[purpose].frames.filter((one: { from: string }) => one.from === "host");
    const first = fromHex(frames[0].message);
    const changed = Uint8Array.from(first);
    changed[3]! ^= 0x80;
    for (const [before, wrong] of [
      [[first], first],
      [[], fromHex(frames[1].message)],
      [[], changed],
    ] as const) {
      const made = await finished(purpose);
      for (const message of before) await made.inbound.open(message);

      await expect(made.inbound.open(wrong)).rejects.toHaveProperty("code", "seal-broken");
      await expect(made.inbound.open(first)).rejects.toHaveProperty("code", "seal-broken");
    }
  });
});

describe("a host that is not the one we dial", () => {
  it("is told nothing more, whatever it proves", async () => {
    const stranger = known.identities.operator;
    const own = await ephemeral(known.attach.operator_ephemeral);
    const keys = { public: fromHex(stranger.public), static: fromHex(host.static_public) };
    const opening = await Opening.of(suite, await us(), keys, own);
    await opening.first();

    await expect(opening.last(fromHex(known.attach.messages[1]))).rejects.toHaveProperty(
      "branch",
      "PeerError",
    );
  });

  it("is refused for a static key of low order", async () => {
    const own = await ephemeral(known.attach.operator_ephemeral);
    const keys = { public: fromHex(host.public), static: new Uint8Array(32) };
    const opening = await Opening.of(suite, await us(), keys, own);

    await expect(opening.first()).rejects.toHaveProperty("code", "weak-key");
  });
});

describe("noise", () => {
  it("changes its key as every implementation does", async () => {
    const { key, sealed_with_count_0, sealed_with_count_1_after_rekeying } = known.rekey;
    const cipher = await CipherState.of(suite, fromHex(key));

    const reader = await CipherState.of(suite, fromHex(key));
    const first = await reader.open(fromHex(sealed_with_count_0));
    await reader.rekey();
    const second = await reader.open(fromHex(sealed_with_count_1_after_rekeying));

    expect(hex(await cipher.seal(first))).toBe(sealed_with_count_0);
    await cipher.rekey();
    expect(hex(await cipher.seal(second))).toBe(sealed_with_count_1_after_rekeying);
  });

  for (const one of vectors("crypto/vectors/noise.json").vectors) {
    it(`writes the published messages of ${one.protocol_name}`, async () => {
      const pattern = one.protocol_name === IK.name ? IK : XXPSK3;
      const keys = {
        static: await ephemeral(one.init_static),
        ephemeral: await ephemeral(one.init_ephemeral),
        ...(one.init_remote_static ? { remoteStatic: fromHex(one.init_remote_static) } : {}),
        ...(one.psk ? { psk: fromHex(one.psk) } : {}),
      };
      const state = await HandshakeState.of(suite, pattern, fromHex(one.prologue), keys);
      let at = 0;
      for (; at < pattern.messages.length; at += 1) {
        const { payload, ciphertext } = one.messages[at];
        if (at % 2 === 0) expect(hex(await state.write(fromHex(payload)))).toBe(ciphertext);
        else expect(hex(await state.read(fromHex(ciphertext)))).toBe(payload);
      }
      const agreed = await state.agree();

      expect(hex(agreed.hash)).toBe(one.handshake_hash);
      for (; at < one.messages.length; at += 1) {
        const { payload, ciphertext } = one.messages[at];
        if (at % 2 === 0) expect(hex(await agreed.sending.seal(fromHex(payload)))).toBe(ciphertext);
        else expect(hex(await agreed.receiving.open(fromHex(ciphertext)))).toBe(payload);
      }
    });
  }

  it("opens nothing that was on its way when a message failed (I6)", async () => {
    const [sender, reader] = [
      await CipherState.of(suite, new Uint8Array(32)),
      await CipherState.of(suite, new Uint8Array(32)),
    ];
    const [first, second] = [await sender.seal(utf8("a")), await sender.seal(utf8("b"))];
    first[0]! ^= 1;

    const opened = await Promise.allSettled([reader.open(first), reader.open(second)]);

    expect(opened.map((one) => one.status)).toEqual(["rejected", "rejected"]);
  });

  it("opens nothing before what came earlier has its answer (I6)", async () => {
    const refuse: ((data: null) => void)[] = [];
    const answers = [new Promise<null>((done) => refuse.push(done)), Promise.resolve(utf8("b"))];
    const open = (): Promise<Uint8Array | null> => answers.shift()!;
    const reader = await CipherState.of(
      { aead: async () => ({ open }) } as unknown as Suite,
      new Uint8Array(32),
    );

    const opened = Promise.allSettled([reader.open(utf8("1")), reader.open(utf8("2"))]);
    refuse[0]!(null);

    expect((await opened).map((one) => one.status)).toEqual(["rejected", "rejected"]);
  });

  it("never gives two messages one count, however they overlap (I4)", async () => {
    const cipher = await CipherState.of(suite, new Uint8Array(32));

    const sealed = await Promise.all([1, 2, 3].map(() => cipher.seal(utf8("same"))));

    expect(new Set(sealed.map(hex)).size).toBe(3);
  });
});
