/**
 * What is made once for some keys: kernels for an operator and a dtype, device functions for what they read.
 *
 * A trie whose steps are weak where keys are objects: what is remembered of an operator goes when the operator goes.
 */

/** Objects and functions are compared by identity, all else by value. */
export type Key = object | string | number | boolean | undefined;

class Node {
  readonly #objects = new WeakMap<object, Node>();
  readonly #plain = new Map<Key, Node>();
  filled = false;
  value: unknown = undefined;

  step(key: Key): Node {
    const isObject = (typeof key === 'object' && key !== null) || typeof key === 'function';
    const next = isObject ? this.#objects.get(key as object) : this.#plain.get(key);
    if (next !== undefined) return next;
    const made = new Node();
    if (isObject) this.#objects.set(key as object, made);
    else this.#plain.set(key, made);
    return made;
  }
}

const root: Node = /* @__PURE__ */ new Node();

/** What `make` gave when these keys were first asked for. Put what says the purpose first: `['reduce', jit, op, …]`. */
export function remember<V>(keys: readonly Key[], make: () => V): V {
  let node = root;
  for (const key of keys) node = node.step(key);
  if (!node.filled) {
    node.value = make();
    node.filled = true;
  }
  return node.value as V;
}
