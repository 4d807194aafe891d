/**
 * Sets of variables by id, as bits: liveness makes many of them, and a compilation should take well under a millisecond.
 */

/** A set of small non-negative integers. */
export class BitSet implements Iterable<number> {
  #words: number[] = [];

  constructor(ids?: Iterable<number>) {
    if (ids instanceof BitSet) this.#words = ids.#words.slice();
    else if (ids !== undefined) for (const id of ids) this.add(id);
  }

  has(id: number): boolean {
    return (((this.#words[id >> 5] ?? 0) >>> (id & 31)) & 1) === 1;
  }

  add(id: number): void {
    const words = this.#words;
    const at = id >> 5;
    while (words.length <= at) words.push(0);
    words[at] = (words[at] ?? 0) | (1 << (id & 31));
  }

  delete(id: number): void {
    const at = id >> 5;
    if (at < this.#words.length) this.#words[at] = (this.#words[at] ?? 0) & ~(1 << (id & 31));
  }

  copy(): BitSet {
    return new BitSet(this);
  }

  /** Adds the members of another set, but those of `except`; returns whether any was new. */
  addAll(other: BitSet, except?: BitSet): boolean {
    const words = this.#words;
    const added = other.#words;
    const barred = except === undefined ? [] : except.#words;
    let grew = false;
    while (words.length < added.length) words.push(0);
    for (let i = 0; i < added.length; i++) {
      const old = words[i] ?? 0;
      const joined = old | ((added[i] ?? 0) & ~(barred[i] ?? 0));
      if (joined !== old) {
        words[i] = joined;
        grew = true;
      }
    }
    return grew;
  }

  *[Symbol.iterator](): Generator<number> {
    let first = 0;
    for (const word of this.#words) {
      for (let rest = word; rest !== 0; rest &= rest - 1) yield first + 31 - Math.clz32(rest & -rest);
      first += 32;
    }
  }
}
