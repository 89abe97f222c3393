/**
 * Who wants to hear of something? Each is told, whatever becomes of the others.
 */

interface Listener<Event> {
  readonly hear: (event: Event) => unknown;
  /** Fulfilled when it listens no more: nobody waits for it then. */
  readonly gone: Promise<void>;
}

export class Listeners<Event> {
  private readonly all = new Set<Listener<Event>>();

  get count(): number {
    return this.all.size;
  }

  add(hear: (event: Event) => unknown): () => void {
    let leave = (): void => undefined;
    const gone = new Promise<void>((fulfil) => {
      leave = fulfil;
    });
    const own = { hear, gone };
    this.all.add(own);
    return () => {
      this.all.delete(own);
      leave();
    };
  }

  /** Tell all listeners; wait for those that return a promise. */
  async tell(event: Event): Promise<void> {
    const slow: unknown[] = [];
    for (const { hear, gone } of [...this.all]) {
      try {
        const answer = hear(event);
        if (answer instanceof Promise) slow.push(Promise.race([answer, gone]));
      } catch {
        // A listener that fails is no reason to tell the others nothing.
      }
    }
    if (slow.length > 0) await Promise.allSettled(slow);
  }
}
