/**
 * A channel that only its two ends can read, over an untrusted link.
 *
 * The twin of src/holdfast/aio/channel.py, the operator's side. Whatever goes wrong
 * ends the link with the error's code; nothing that came after a message that does
 * not open is ever returned.
 */

import { asError, HoldfastError, linkEnded } from "./errors.js";
import type { Established, Handshake } from "./handshake.js";
import type { Carrier, Clock } from "./ports.js";
import { MAX_DATA, RecordKind } from "./records.js";

/** Milliseconds for a whole handshake. */
export const HANDSHAKE_MS = 10_000;

const NOTHING = new Uint8Array(0);

export class Sealed {
  /** Sends follow each other: a message is sealed when the last was sent. */
  private sending: Promise<void> = Promise.resolve();
  private isClosed = false;

  constructor(
    private readonly carrier: Carrier,
    private readonly made: Established,
  ) {}

  get peerStatic(): Uint8Array {
    return this.made.peerStatic;
  }

  get binding(): Uint8Array {
    return this.made.binding;
  }

  /** Bytes that have come and that nobody has received yet. */
  get unread(): number {
    return this.carrier.unread;
  }

  /** Send all of `data`, after all that was sent before. */
  send(data: Uint8Array): Promise<void> {
    return this.inTurn(async () => {
      for (let start = 0; start < data.length; start += MAX_DATA) {
        const piece = data.subarray(start, start + MAX_DATA);
        this.carrier.send(await this.made.outbound.seal(RecordKind.data, piece));
      }
    });
  }

  /** The next bytes; none at all once the peer is done. One at a time. */
  async receive(): Promise<Uint8Array> {
    if (this.made.inbound.hasEnded) return NOTHING;
    const message = await this.carrier.receive();
    try {
      return (await this.made.inbound.open(message)).data;
    } catch (thrown) {
      const error = asError(thrown);
      this.close(error.code);
      throw error;
    }
  }

  /** End both directions. With a code the peer is not told that all was sent. */
  close(code = ""): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (code !== "") {
      this.carrier.close(code);
      return;
    }
    const end = async (): Promise<void> => {
      if (this.made.outbound.hasEnded) return;
      this.carrier.send(await this.made.outbound.seal(RecordKind.end));
    };
    void this.sending
      .then(end)
      .catch(() => undefined)
      .then(() => this.carrier.close());
  }

  private inTurn(what: () => Promise<void>): Promise<void> {
    if (this.isClosed) return Promise.reject(linkEnded("we have ended it"));
    const done = this.sending.then(what);
    // The next caller must not fail for what became of this one: if it failed,
    // the link is gone, and says so itself.
    this.sending = done.catch(() => undefined);
    return done;
  }
}

/** Do a handshake on a link, in time; the link is ended if it fails. */
export async function shakeHands(
  clock: Clock,
  carrier: Carrier,
  handshake: Handshake,
): Promise<Sealed> {
  let late = false;
  const forget = clock.after(HANDSHAKE_MS, () => {
    late = true;
    carrier.close("handshake-timeout");
  });
  try {
    carrier.send(await handshake.first());
    const [message, made] = await handshake.last(await carrier.receive());
    carrier.send(message);
    return new Sealed(carrier, made);
  } catch (thrown) {
    const error = late ? timedOut() : asError(thrown);
    carrier.close(error.code);
    throw error;
  } finally {
    forget();
  }
}

function timedOut(): HoldfastError {
  const seconds = HANDSHAKE_MS / 1000;
  const text = `the handshake took over ${seconds} s`;
  return new HoldfastError("handshake-timeout", text, { seconds });
}
