/**
 * `scope(fn)`: frees what a synchronous body made and did not return.
 *
 * Device arrays, streams and events tell this file when they are made and disposed. Scopes nest: what an inner scope
 * returns belongs to the outer one.
 */
import { hostOnly } from '../compiler/intrinsics.ts';
import { TsambaTypeError } from '../errors.ts';
import { checkBody, isThenable } from './context-manager.ts';
import { atSite, captureSite } from './disposal.ts';

interface Owned {
  dispose(): void;
}

interface Scope {
  readonly outer: Scope | undefined;
  readonly made: Set<object & Owned>;
}

/** A member of objects with another face: the array that they are, which a scope does not free when it returns them. */
export const KEEPS: unique symbol = Symbol.for('tsamba.keeps') as never;

let innermost: Scope | undefined;

/** Called by the constructor of everything that `scope` frees. */
export function noteMade(made: object & Owned): void {
  if (innermost !== undefined) innermost.made.add(made);
}

/** Called when such an object is disposed by other means. */
export function noteDisposed(gone: object & Owned): void {
  for (let scope = innermost; scope !== undefined; scope = scope.outer) scope.made.delete(gone);
}

function scoped<R>(body: () => R): R {
  checkBody('scope', body);
  const here: Scope = { outer: innermost, made: new Set() };
  innermost = here;
  let result: R;
  try {
    result = body();
  } catch (error) {
    innermost = here.outer;
    disposeAll(here.made);
    throw error;
  }
  innermost = here.outer;
  if (isThenable(result)) {
    // The error below is the one to see; what the body runs into on its disposed arrays follows from it.
    Promise.resolve(result).catch(() => undefined);
    disposeAll(here.made);
    throw new TsambaTypeError(
      'E_SCOPE_ASYNC',
      'the body of scope() returned a promise, but it must be synchronous: use `using` declarations or dispose() in async code',
    );
  }
  const kept = new Set<object>();
  collect(result, kept);
  for (const made of here.made) {
    if (!kept.has(made)) continue;
    here.made.delete(made);
    here.outer?.made.add(made);
  }
  disposeAll(here.made);
  return result;
}

/**
 * Runs a synchronous body and disposes of the device arrays, streams and events that it created, except those in its result: the value itself, and
 * members of arrays and plain objects at any depth. Also if it throws. Returns the body's result.
 * @throws TypeError if the body is asynchronous: other code would run in between, and what that creates would be freed too.
 */
export const scope: typeof scoped = /* @__PURE__ */ hostOnly('scope', scoped);

/**
 * As `scope`, for an asynchronous body, and gives nothing. Nothing else may run meanwhile: what other code made would be freed too. For
 * the conformance suite, whose tests run one after another.
 */
export async function scopeWhileAlone(body: () => void | Promise<void>): Promise<void> {
  const here: Scope = { outer: innermost, made: new Set() };
  innermost = here;
  try {
    await body();
  } finally {
    innermost = here.outer;
    disposeAll(here.made);
  }
}

function collect(value: unknown, found: Set<object>): void {
  if (typeof value !== 'object' || value === null || found.has(value)) return;
  found.add(value);
  if (KEEPS in value) collect(value[KEEPS], found);
  if (Array.isArray(value)) {
    for (const item of value) collect(item, found);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return;
  for (const item of Object.values(value)) collect(item, found);
}

function disposeAll(made: Set<object & Owned>): void {
  if (made.size === 0) return;
  atSite(captureSite(2), () => {
    // Newest first: views before what they look at.
    for (const object of [...made].reverse()) object.dispose();
  });
}
