/**
 * The names of the operators of one host.
 *
 * Theory of operation
 * -------------------
 * Attached operators are known by name already. Of all others the record has only
 * ids; a component that draws one asks here, gets what is known at once, and is
 * redrawn when the host has answered. Questions of one moment go out together.
 *
 * I1  No id is asked for twice, unless the host could not be reached.
 * I2  At most MAX_ASKED ids go out in one question.
 * I3  What a session says of who is attached replaces what was known.
 */

import type { ActorId, Named } from "../protocol/api.js";

/** What a host answers in one packet. */
export const MAX_ASKED = 64;

/** The form of an operator's id; no host could name anything else. */
const ACTOR = /^a_[a-z2-7]+$/u;

export interface World {
  ask(actors: readonly ActorId[]): Promise<ReadonlyMap<ActorId, Named>>;
  /** Do something a moment later, once for all that is drawn now. */
  soon(work: () => void): void;
  /** A name has become known. */
  changed(): void;
}

export class NameBook {
  readonly #known = new Map<ActorId, Named>();
  readonly #wanted = new Set<ActorId>();
  readonly #asked = new Set<ActorId>();

  constructor(private readonly world: World) {}

  /** What is known of an operator now; an unknown one is asked for. */
  find(actor: ActorId): Named | null {
    const found = this.#known.get(actor);
    if (found === undefined && ACTOR.test(actor) && !this.#asked.has(actor)) {
      this.#asked.add(actor);
      this.#wanted.add(actor);
      if (this.#wanted.size === 1) {
        this.world.soon(() => void this.#askAll());
      }
    }
    return found ?? null;
  }

  /** Remember a name. */
  learn(found: Iterable<readonly [ActorId, Named]>): void {
    let isNews = false;
    for (const [actor, named] of found) {
      const known = this.#known.get(actor);
      isNews ||= known?.name !== named.name || known.kind !== named.kind;
      this.#known.set(actor, named);
    }
    if (isNews) {
      this.world.changed();
    }
  }

  async #askAll(): Promise<void> {
    while (this.#wanted.size > 0) {
      const some = [...this.#wanted].slice(0, MAX_ASKED);
      some.forEach((actor) => this.#wanted.delete(actor));
      try {
        this.learn(await this.world.ask(some));
      } catch {
        // The next draw asks again.
        some.forEach((actor) => this.#asked.delete(actor));
      }
    }
  }
}
