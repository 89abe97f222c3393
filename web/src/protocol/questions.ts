/**
 * One question to a session at a time, and its answer.
 *
 * A request is not answered unless it is refused, so WHO is sent behind it: answers
 * come in order, and PRESENCE means that the request was done. What was asked and
 * not answered when a link broke is asked again on the next one: to ask for any of
 * it twice does no more than once. An image is the exception, and is not.
 */

import { ANSWER_MS, MAX_GRAPH_PARTS, MAX_SCREEN_PARTS } from "./client-limits.js";
import type { Message } from "./codec.js";
import { refusalError } from "./codec.js";
import { HoldfastError, malformed } from "./errors.js";
import type { Bodies, Graph, Presence, Screen } from "./messages.js";
import { KINDS } from "./messages.js";
import type { Clock } from "./ports.js";
import type { Said } from "./session-wire.js";

/** Parts of one answer that are taken before it is nonsense. */
const MAX_PARTS = { GRAPH: MAX_GRAPH_PARTS, SCREEN: MAX_SCREEN_PARTS };

/** Makes an answer of the messages that come; undefined as long as it is not whole. */
export type Gather<Answer> = (message: Message) => Answer | undefined;

interface Question {
  readonly asked: readonly Said[];
  repeat(): void;
  hear(message: Message): void;
  fail(error: HoldfastError): void;
  start(): void;
}

export class Questions {
  private readonly waiting: Question[] = [];

  constructor(
    private readonly clock: Clock,
    /** Sends on the present link; what is lost with it is sent on the next. */
    private readonly send: (asked: readonly Said[]) => void,
  ) {}

  /** Ask, and return what is made of the messages that come. */
  ask<Answer>(
    asked: readonly Said[],
    begin: () => Gather<Answer>,
    patienceMs = ANSWER_MS,
  ): Promise<Answer> {
    return new Promise((fulfil, refuse) => {
      let gather = begin();
      let forget = (): void => undefined;
      const over = (settle: () => void): void => {
        forget();
        const at = this.waiting.indexOf(question);
        if (at >= 0) this.waiting.splice(at, 1);
        settle();
        if (at === 0) this.next();
      };
      const question: Question = {
        asked,
        start: () => {
          // The time of a question begins when it is asked, not when it is in line.
          forget = this.clock.after(patienceMs, () => question.fail(inVain(patienceMs)));
          this.send(asked);
        },
        repeat: () => {
          if (asked.some(([is]) => is === "CHECKPOINT_REQUEST")) {
            question.fail(doubtful());
            return;
          }
          gather = begin();
          this.send(asked);
        },
        hear: (message) => {
          try {
            const answer = gather(message);
            if (answer !== undefined) over(() => fulfil(answer));
          } catch (thrown) {
            over(() => refuse(thrown as Error));
          }
        },
        fail: (error) => over(() => refuse(error)),
      };
      this.waiting.push(question);
      if (this.waiting.length === 1) question.start();
    });
  }

  hear(message: Message): void {
    this.waiting[0]?.hear(message);
  }

  /** There is a new link: ask again what was asked. */
  repeat(): void {
    this.waiting[0]?.repeat();
  }

  /** Nothing will be answered any more. */
  fail(error: HoldfastError): void {
    for (const question of [...this.waiting].reverse()) question.fail(error);
  }

  private next(): void {
    this.waiting[0]?.start();
  }
}

function doubtful(): HoldfastError {
  const why = "the link was cut before its answer; the list of images shows whether it was made";
  return new HoldfastError("link-ended", why, { why });
}

function inVain(waited: number): HoldfastError {
  const what = "an answer of the session";
  const facts = { what, waited_ms: waited };
  return new HoldfastError("waited-in-vain", `${what} did not come in time`, facts);
}

/** Throw what a refusal of one of these kinds says. */
function heed(message: Message, kinds: readonly (keyof Bodies)[]): void {
  if (message.is !== "REFUSE") return;
  const { refused } = message.body;
  if (kinds.some((kind) => KINDS[kind] === refused)) throw refusalError(message.body);
}

/** Have something done; the answer is how things stand then. */
export function done(...kinds: (keyof Bodies)[]): () => Gather<Presence> {
  return () => (message) => {
    heed(message, kinds);
    if (message.is === "EXITED" && kinds.length > 0) {
      throw new HoldfastError("session-over", "the session has ended", { state: "exited" });
    }
    return message.is === "PRESENCE" ? message.body : undefined;
  };
}

/** An answer of one message. */
export function one<Kind extends keyof Bodies>(
  wanted: Kind,
  asked: keyof Bodies,
): () => Gather<Bodies[Kind]> {
  return () => (message) => {
    heed(message, [asked]);
    return message.is === wanted ? (message.body as Bodies[Kind]) : undefined;
  };
}

/** An answer that is the end of the session: its status. */
export function ended(): Gather<number> {
  return (message) => {
    heed(message, ["END"]);
    return message.is === "EXITED" ? message.body.status : undefined;
  };
}

/** An answer in parts, each but the last with `more`. */
export function parts<Kind extends "GRAPH" | "SCREEN">(
  wanted: Kind,
  asked: keyof Bodies,
): () => Gather<readonly Bodies[Kind][]> {
  return () => {
    const found: Bodies[Kind][] = [];
    return (message) => {
      heed(message, [asked]);
      if (message.is !== wanted) return undefined;
      found.push(message.body as Bodies[Kind]);
      if (found.length > MAX_PARTS[wanted]) throw malformed(wanted, "it does not end");
      return (message.body as Graph | Screen).more ? undefined : found;
    };
  };
}

export function wholeGraph(found: readonly Graph[]): Graph {
  return {
    processes: found.flatMap((part) => part.processes),
    listeners: found.flatMap((part) => part.listeners),
    connections: found.flatMap((part) => part.connections),
    descriptors: found.flatMap((part) => part.descriptors),
    more: false,
  };
}

export function wholeScreen(found: readonly Screen[]): Screen {
  const last = found.at(-1);
  if (last === undefined) throw malformed("SCREEN", "it has no parts");
  return {
    ...last,
    text: found.map((part) => part.text).join(""),
    runs: found.flatMap((part) => part.runs),
    hidden: found.flatMap((part) => part.hidden),
  };
}
