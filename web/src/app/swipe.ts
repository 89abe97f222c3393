/**
 * What a finger on the terminal scrolls: rows while it moves, and some after a flick.
 *
 * Positions are pixels from the top, times milliseconds. A finger that moves down
 * shows what is older: the rows are then below zero.
 *
 * I1  While the finger moves, rows and the rest together are the way it went.
 * I2  A flick ends by itself, whatever its speed, and goes as far on a slow machine.
 */

/** Milliseconds after which a finger that rests has forgotten its speed. */
const REST_MS = 80;

/** Pixels a millisecond: a slower flick does nothing, a faster one counts as this. */
const LEAST_SPEED = 0.25;
const MOST_SPEED = 6;

/** What is left of the speed after a millisecond. */
const KEPT = 0.9965;

export class Swipe {
  #last: number;
  #at: number;
  #speed = 0;
  #left = 0;

  constructor(
    y: number,
    at: number,
    private readonly rowHeight: number,
  ) {
    this.#last = y;
    this.#at = at;
  }

  /** The finger is at `y` now: return the rows to scroll. */
  move(y: number, at: number): number {
    const way = this.#last - y;
    const ms = Math.max(1, at - this.#at);
    const speed = way / ms;
    this.#speed = ms > REST_MS ? speed : this.#speed * 0.4 + speed * 0.6;
    this.#last = y;
    this.#at = at;
    return this.#rows(way);
  }

  /** The finger has left: return whether it coasts on. */
  release(at: number): boolean {
    if (at - this.#at > REST_MS || Math.abs(this.#speed) < LEAST_SPEED) {
      return false;
    }
    this.#speed = Math.sign(this.#speed) * Math.min(MOST_SPEED, Math.abs(this.#speed));
    this.#at = at;
    return true;
  }

  /** Coast up to `at`: return the rows to scroll, and whether that was all. */
  coast(at: number): readonly [rows: number, isOver: boolean] {
    const ms = Math.max(0, at - this.#at);
    const kept = KEPT ** ms;
    // All of the way, so that it does not matter how seldom it is asked.
    const rows = this.#rows((this.#speed * (1 - kept)) / -Math.log(KEPT));
    this.#at = at;
    this.#speed *= kept;
    return [rows, Math.abs(this.#speed) < LEAST_SPEED];
  }

  #rows(way: number): number {
    this.#left += way;
    const rows = Math.trunc(this.#left / this.rowHeight);
    this.#left -= rows * this.rowHeight;
    return rows;
  }
}
