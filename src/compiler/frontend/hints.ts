/**
 * What partial evaluation learns too late: that a variable read in a loop is given no value, or an object, further down. It starts again
 * and is told.
 */
import type { Binding, Value } from './values.ts';

/** Thrown to start again. */
export class Reconsider extends Error {}

export class Hints {
  readonly #shapes = new Map<string, Value | undefined>();

  /** Whether a variable will be without a value at times. */
  vanishes(binding: Binding): boolean {
    return this.#shapes.has(key(binding));
  }

  /** What a variable will hold. */
  shapeOf(binding: Binding): Value | undefined {
    return this.#shapes.get(key(binding));
  }

  /** Starts again with what has turned out about a variable. */
  reconsider(binding: Binding, shape: Value | undefined): never {
    const id = key(binding);
    if (this.#shapes.get(id) !== undefined || (shape === undefined && this.#shapes.has(id)))
      throw new Error(`nothing new about ${binding.name}`);
    this.#shapes.set(id, shape);
    throw new Reconsider();
  }
}

/** The declaration; bindings of one that is evaluated several times are treated alike. */
function key({ pos }: Binding): string {
  return `${pos.start} ${pos.source.text}`;
}
