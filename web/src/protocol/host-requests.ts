/**
 * One channel to a host, and one question on it at a time (docs/spec/operators.md,
 * section 5).
 */

import type { Named } from "./api.js";
import { HoldfastError, linkEnded, malformed } from "./errors.js";
import { hearOpened, sayOpen } from "./opening.js";
import type { Packet } from "./packets.js";
import { PacketReader, packetBytes, packetError, textOf } from "./packets.js";
import type { Clock } from "./ports.js";
import type { Sealed } from "./sealed.js";
import type { HostRequest } from "./session-requests.js";
import { printable } from "./text.js";

/** Milliseconds for an answer; making a session takes longest. */
const ANSWER_MS = 15_000;

/** The same for a session that goes on from an image, which has to be read. */
const RESTORE_MS = 45_000;

/** Packets of one answer: more than any host has sessions for. */
const MAX_PAGES = 1_000;

const MAX_NAME = 64;

export class HostRequests {
  private readonly reader = new PacketReader();
  private isOpen = false;
  private isAsked = false;

  constructor(
    private readonly clock: Clock,
    private readonly sealed: Sealed,
  ) {}

  get static(): Uint8Array {
    return this.sealed.peerStatic;
  }

  /** The host's answer; a list comes whole. Not to be called while it is awaited. */
  async ask(asked: HostRequest): Promise<Packet> {
    let isLate = false;
    const isRestored = asked.do === "recover" || (asked.do === "create" && "branches" in asked);
    const patience = isRestored ? RESTORE_MS : ANSWER_MS;
    const forget = this.clock.after(patience, () => {
      isLate = true;
      this.sealed.close("host-unreachable");
    });
    try {
      // The question is not held back until the host has said yes.
      if (!this.isAsked) await sayOpen(this.sealed, "host");
      this.isAsked = true;
      await this.sealed.send(packetBytes(asked));
      if (!this.isOpen) await hearOpened(this.sealed);
      this.isOpen = true;
      return await this.answer();
    } catch (thrown) {
      throw isLate ? silent(patience) : thrown;
    } finally {
      forget();
    }
  }

  close(): void {
    this.sealed.close();
  }

  private async answer(): Promise<Packet> {
    const listed: unknown[] = [];
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const answer = await this.packet();
      if (answer["ok"] !== true) throw packetError(answer);
      const sessions = answer["sessions"];
      if (!Array.isArray(sessions)) return answer;
      listed.push(...(sessions as unknown[]));
      if (answer["more"] !== true) return { ...answer, sessions: listed };
    }
    throw new HoldfastError("host-unreachable", "the host's answer does not end");
  }

  private async packet(): Promise<Packet> {
    for (;;) {
      const packet = this.reader.take();
      if (packet !== null) return packet;
      const data = await this.sealed.receive();
      if (data.length === 0) throw linkEnded("the host hung up");
      this.reader.feed(data);
    }
  }
}

/** Return what the answer to `names` says of each operator that the host knows. */
export function namedIn(told: Packet): ReadonlyMap<string, Named> {
  const names = told["names"];
  if (typeof names !== "object" || names === null) throw malformed("names", "it has none");
  const found = new Map<string, Named>();
  for (const [actor, said] of Object.entries(names)) {
    if (typeof said !== "object" || said === null) throw malformed("names", "one is no name");
    const one = said as Packet;
    found.set(actor, {
      name: printable(textOf(one, "name"), MAX_NAME),
      kind: printable(textOf(one, "kind"), MAX_NAME),
    });
  }
  return found;
}

function silent(waitedMs: number): HoldfastError {
  const why = `no answer within ${waitedMs / 1000} s`;
  return new HoldfastError("host-unreachable", `the host does not answer: ${why}`, { why });
}
