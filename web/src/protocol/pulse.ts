/**
 * Detects a dead link.
 *
 * A link that is silent is asked, and given up if it does not answer in time. A tab
 * that has slept is more likely than not to have lost its links without a word, so it
 * asks at once and waits for less.
 */

import type { Clock } from "./ports.js";

/** Milliseconds of silence after which a link is asked whether it is there. */
const SILENCE_MS = 20_000;

/** Milliseconds for it to answer that. */
const PONG_MS = 8_000;

/** The same when we have just woken up. */
const WAKING_MS = 3_000;

/** The link that is watched. */
export interface Patient {
  ping(): void;
  /** Whether something has come that nobody has looked at: a sign of life too. */
  hasUnread(): boolean;
  giveUp(): void;
}

export class Pulse {
  private heardAt: number;
  private isAnswered = false;
  private forget: () => void = () => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly patient: Patient,
  ) {
    this.heardAt = clock.now();
    this.watch();
  }

  /** Something has come; `isAnswer` if it is what the last question is answered with. */
  heard(isAnswer: boolean): void {
    this.heardAt = this.clock.now();
    if (isAnswer) this.isAnswered = true;
  }

  /** Ask at once: the network is back, or the tab is seen again. */
  wake(): void {
    this.probe(WAKING_MS);
  }

  stop(): void {
    this.forget();
  }

  private watch(): void {
    this.forget();
    const since = this.clock.now();
    this.forget = this.clock.after(SILENCE_MS, () => {
      const now = this.clock.now();
      // A timer that comes much too late has slept with the tab.
      const hasSlept = now - since > 2 * SILENCE_MS;
      if (hasSlept) this.probe(WAKING_MS);
      else if (now - this.heardAt >= SILENCE_MS) this.probe(PONG_MS);
      else this.watch();
    });
  }

  private probe(withinMs: number): void {
    this.forget();
    const askedAt = this.clock.now();
    this.isAnswered = false;
    this.patient.ping();
    this.forget = this.clock.after(withinMs, () => {
      if (this.isAnswered) this.watch();
      // What came may have been on its way before the link died: ask again.
      else if (this.heardAt > askedAt || this.patient.hasUnread()) this.probe(withinMs);
      else this.patient.giveUp();
    });
  }
}
