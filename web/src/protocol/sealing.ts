/**
 * Seals and opens the messages of a channel, one direction at a time.
 *
 * The twin of src/holdfast/crypto/sealing.py; normative in docs/spec/channel.md,
 * section 5. Calls must not overlap: await one before the next.
 */

import { linkEnded, unexpected } from "./errors.js";
import { tooLarge } from "./frames.js";
import type { CipherState } from "./noise.js";
import { MAX_MESSAGE } from "./noise.js";
import type { Record } from "./records.js";
import { RecordKind, readRecord, recordBytes } from "./records.js";

/** Messages under one key. */
export const REKEY = 2 ** 20;

const NOTHING = new Uint8Array(0);

/** The direction from us. */
export class Outbound {
  hasEnded = false;

  constructor(private readonly cipher: CipherState) {}

  async seal(kind: RecordKind, data: Uint8Array = NOTHING): Promise<Uint8Array> {
    if (this.hasEnded) throw linkEnded("we have ended it");
    this.hasEnded = kind === RecordKind.end;
    const message = await this.cipher.seal(recordBytes(kind, data));
    if (this.cipher.count % REKEY === 0) await this.cipher.rekey();
    return message;
  }
}

/** The direction to us. */
export class Inbound {
  hasEnded = false;

  constructor(private readonly cipher: CipherState) {}

  async open(message: Uint8Array): Promise<Record> {
    if (message.length > MAX_MESSAGE) throw tooLarge(message.length, MAX_MESSAGE);
    const raw = await this.cipher.open(message);
    if (this.cipher.count % REKEY === 0) await this.cipher.rekey();
    if (this.hasEnded) throw unexpected("a record", "the other side has ended");
    const record = readRecord(raw);
    this.hasEnded = record.kind === RecordKind.end;
    return record;
  }
}
