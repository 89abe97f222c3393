/** The names of operators: one book per host, and a signal for changes. */

import { signal } from "@preact/signals";
import { NameBook } from "../app/name-book.js";
import { shownName } from "../app/shown-text.js";
import type { ActorId, HoldfastError, HostId, Named } from "../protocol/api.js";
import { page } from "./state.js";

const SHORT_ID = 10;

const books = new Map<HostId, NameBook>();
const news = signal(0);

/** What a session has said of an attached operator. */
interface Present {
  readonly actor: ActorId;
  readonly name: string;
  readonly kind: string;
}

/** Remember what a session has said of its operators. */
export function learnNames(host: HostId, present: readonly Present[]): void {
  bookOf(host).learn(present.map(({ actor, name, kind }) => [actor, { name, kind }] as const));
}

/** An operator's name on a host; the start of the id until that is known. */
export function nameAt(host: HostId, actor: ActorId): string {
  news.value; // Subscribes the caller, which redraws on changes.
  return shownName(bookOf(host).find(actor)?.name || actor.slice(0, SHORT_ID));
}

/** An operator's kind: `human`, `agent` or `service`; empty until known. */
export function kindAt(host: HostId, actor: ActorId): string {
  news.value;
  return bookOf(host).find(actor)?.kind ?? "";
}

function bookOf(host: HostId): NameBook {
  const found = books.get(host);
  if (found !== undefined) {
    return found;
  }
  const made = new NameBook({
    ask: (actors) => asked(host, actors),
    soon: (work) => void setTimeout(work, 0),
    changed: () => {
      news.value += 1;
    },
  });
  books.set(host, made);
  return made;
}

/** A host that refuses is not asked again; one that is offline is. */
async function asked(
  host: HostId,
  actors: readonly ActorId[],
): Promise<ReadonlyMap<ActorId, Named>> {
  try {
    return (await page.peek()?.link(host).names(actors)) ?? new Map<ActorId, Named>();
  } catch (error) {
    if ((error as HoldfastError).branch === "Unavailable") {
      throw error;
    }
    return new Map();
  }
}
