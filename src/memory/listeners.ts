/**
 * Who waits for work of a context, and has yet to hear that it is done: a context that is closed in order waits for them, too.
 */
export class Listeners {
  #count = 0;
  #whenGone: (() => void)[] = [];

  /** Somebody begins to wait. */
  add(): void {
    this.#count++;
  }

  /** Somebody has been told. */
  leave(): void {
    this.#count--;
    if (this.#count > 0) return;
    const all = this.#whenGone;
    this.#whenGone = [];
    for (const tell of all) tell();
  }

  /** Resolves when nobody waits. */
  gone(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenGone.push(resolve));
  }
}
