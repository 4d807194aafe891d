/**
 * Launches whose arrays keep their lengths. On a device that is a processor, what several launches in a row have the same is compiled in: WebGPU then keeps indices in bounds by constants, where it
 * otherwise asks for the length of a buffer at each access, and extents and strides are constants too.
 *
 * A kernel is compiled for any lengths first, and that stays what other lengths use.
 */

/** Launches in a row with the same lengths before there is a variant for them, without any at once; and how many variants a module may have. */
export const LENGTHS: { after: number; most: number } = { after: 3, most: 4 };

/** The variants of one module. */
export class Variants<T> {
  readonly #made = new Map<string, T | 'coming' | 'none'>();
  #key = '';
  #times = 0;

  get all(): readonly T[] {
    return [...this.#made.values()].filter((variant) => variant !== 'coming' && variant !== 'none') as T[];
  }

  /**
   * The variant for some lengths; undefined while there is none, `'none'` where there never will be. `make` is called when it is time for it, and gives it to `done`: undefined where it
   * cannot be had. Where `make` is `false`, it is called again later.
   */
  of(key: string, make: (done: (variant: T | undefined) => void) => boolean): T | 'none' | undefined {
    if (!this.#made.has(key)) {
      this.#times = key === this.#key ? this.#times + 1 : 0;
      this.#key = key;
      if (this.#made.size >= LENGTHS.most && LENGTHS.after > 0) return 'none';
      if (this.#times < LENGTHS.after) return undefined;
      this.#made.set(key, 'coming');
      if (make((variant) => this.#made.set(key, variant ?? 'none'))) return this.of(key, make);
      this.#made.delete(key);
      return undefined;
    }
    const known = this.#made.get(key);
    return known === 'coming' ? undefined : known;
  }
}
