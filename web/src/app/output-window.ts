/**
 * The last of what a session has printed, by its offsets in the stream.
 *
 * I1  What `slice` returns is exactly the bytes of that stretch; without all of
 *     them it returns null.
 * I2  No more than `limit` bytes are kept, and one part more.
 */

interface Part {
  readonly offset: number;
  readonly data: Uint8Array;
}

export class OutputWindow {
  #parts: Part[] = [];
  #size = 0;

  constructor(private readonly limit: number) {}

  /** Take what was printed from `offset` on; after a gap only that is kept. */
  add(offset: number, data: Uint8Array): void {
    if (offset !== this.#end) {
      this.clear();
    }
    this.#parts.push({ offset, data });
    this.#size += data.length;
    while (this.#size - (this.#parts[0]?.data.length ?? 0) >= this.limit) {
      this.#size -= this.#parts.shift()?.data.length ?? 0;
    }
  }

  clear(): void {
    this.#parts = [];
    this.#size = 0;
  }

  slice(start: number, end: number): Uint8Array | null {
    const first = this.#parts[0];
    if (end === start) {
      return new Uint8Array();
    }
    if (first === undefined || end < start || start < first.offset || end > this.#end) {
      return null;
    }
    const found = new Uint8Array(end - start);
    for (const { offset, data } of this.#parts) {
      const from = Math.max(start, offset);
      const to = Math.min(end, offset + data.length);
      if (from < to) {
        found.set(data.subarray(from - offset, to - offset), from - start);
      }
    }
    return found;
  }

  get #end(): number {
    const last = this.#parts.at(-1);
    return last === undefined ? -1 : last.offset + last.data.length;
  }
}
