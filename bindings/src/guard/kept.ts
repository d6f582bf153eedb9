/** Bytes that are held back, in one buffer: a body that trickles in by single bytes must not cost an object for each. */
export type Bytes = Uint8Array<ArrayBuffer>;

const EMPTY: Bytes = new Uint8Array(0);
const LEAST = 1_024;

/** Takes reads in at the back, gives bytes out at the front. */
export class Kept {
  #buffer: Bytes = EMPTY;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Takes `chunk` in and gives the first `count` of all bytes out. What comes out is the caller's own. */
  exchange(chunk: Bytes, count: number): Bytes {
    if (this.#length === 0) {
      // The usual case: most of a read passes, and is not copied. What stays is, since the reader may transfer what it got.
      if (count < chunk.length) this.#append(chunk.subarray(count));
      return count === chunk.length ? chunk : chunk.subarray(0, count);
    }
    this.#append(chunk);
    return this.take(count);
  }

  /** Gives the first bytes out. */
  take(count: number): Bytes {
    if (count === 0) return EMPTY;
    const out = this.#buffer.slice(0, count);
    this.#buffer.copyWithin(0, count, this.#length);
    this.#length -= count;
    return out;
  }

  /** Forgets everything. */
  clear(): void {
    this.#buffer = EMPTY;
    this.#length = 0;
  }

  #append(chunk: Bytes): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(needed, this.#buffer.length * 2, LEAST));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = needed;
  }
}
