/** How operators are called: one book for each host, and a signal that tells of news. */

import { signal } from "@preact/signals";
import { NameBook } from "../app/name-book.js";
import { shownName } from "../app/shown-text.js";
import type { ActorId, HoldfastError, HostId, Named } from "../protocol/api.js";
import { page } from "./state.js";

const SHORT_ID = 10;

const books = new Map<HostId, NameBook>();
const news = signal(0);

/** What a session has said of somebody who is there. */
interface Present {
  readonly actor: ActorId;
  readonly name: string;
  readonly kind: string;
}

/** Remember what a session has said of who is there. */
export function learnNames(host: HostId, present: readonly Present[]): void {
  bookOf(host).learn(present.map(({ actor, name, kind }) => [actor, { name, kind }] as const));
}

/** How somebody is called at a host; the beginning of the id until that is known. */
export function nameAt(host: HostId, actor: ActorId): string {
  news.value; // Whoever draws this draws it again when there is news.
  return shownName(bookOf(host).find(actor)?.name || actor.slice(0, SHORT_ID));
}

/** What somebody is: `human`, `agent` or `service`; empty until that is known. */
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

/** A host that refuses the question is not asked again; one that is away is. */
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
