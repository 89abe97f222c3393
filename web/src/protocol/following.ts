/**
 * Goes after a session that moves, from host to host.
 *
 * Whereabouts decides where to look next; this reads the signed words, and has the page
 * remember a host at which the session was found.
 */

import type { Failure } from "./api.js";
import { asError, HoldfastError } from "./errors.js";
import type { MovedWord } from "./moved-word.js";
import { readMovedWord } from "./moved-word.js";
import type { Suite } from "./ports.js";
import type { HostKeys } from "./reaching.js";
import { Whereabouts } from "./whereabouts.js";

/** What a page knows of its hosts, as far as somebody who follows needs it. */
export interface Guide {
  /** What becomes of a session that cannot be reached: its exit status, if it ended. */
  lookUp(host: string, session: string): Promise<{ readonly exit: number | null } | null>;
  /** The way to the host that a session went to. */
  wayTo(word: MovedWord): Promise<HostKeys>;
  /** Keep a host at which a session was found that came from another one. */
  remember(word: MovedWord, from: string): Promise<void>;
}

export class Following {
  /** The host that the session was last found at, of those that the page knows. */
  home: string;
  private readonly where: Whereabouts;
  private readonly words = new Map<string, readonly [MovedWord, string]>();

  constructor(
    private readonly suite: Suite,
    private readonly guide: Guide,
    private readonly session: string,
    home: HostKeys,
  ) {
    this.where = new Whereabouts(home);
    this.home = home.id;
  }

  /** Where it is looked for. */
  get host(): HostKeys {
    return this.where.host;
  }

  /** The host that it is on its way to; empty once that has taken too long. */
  destination(now: number): string {
    return this.where.isFollowing(now) ? this.where.name : "";
  }

  /** Take why a link has ended; if the session has moved, the next goes where it went. */
  async heard(error: HoldfastError, now: number): Promise<HoldfastError> {
    if (error.code !== "session-left") {
      this.where.tryOther();
      return error;
    }
    const left = this.host;
    try {
      const said = String(error.facts["word"] ?? "");
      const word = await readMovedWord(this.suite, said, this.session, left.public);
      const there = await this.guide.wayTo(word);
      this.words.set(there.id, [word, left.id]);
      this.where.follow(there, word.host, now);
      return error;
    } catch (thrown) {
      return asError(thrown);
    }
  }

  /** The session is at the host where it was looked for. */
  async found(): Promise<void> {
    this.where.found();
    const said = this.words.get(this.host.id);
    if (said === undefined) return;
    this.words.clear();
    try {
      await this.guide.remember(...said);
      this.home = this.host.id;
    } catch {
      // It is shown all the same; what else is asked goes to the host before.
    }
  }

  /** What becomes of the session, by the host where it was looked for. */
  lookUp(): Promise<{ readonly exit: number | null } | null> {
    return this.guide.lookUp(this.host.id, this.session);
  }

  /** Why it cannot be had. */
  failure(because: Failure): Failure {
    return this.where.failure(because);
  }

  /** What to say of an error: if it has moved, where it went is what matters. */
  told(error: HoldfastError): HoldfastError {
    const host = this.where.name;
    if (host === "") return error;
    return new HoldfastError("session-moved", `it has moved to ${host}`, { host });
  }
}
