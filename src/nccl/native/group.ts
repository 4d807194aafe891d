/**
 * NCCL's groups: `ncclGroupStart` and `ncclGroupEnd` are of the thread, so that all communicators of a library share one.
 */
import type { Grouping } from '../group.ts';
import { check, type Nccl } from './library.ts';

/** The group that is open, or none; all of its calls succeed or fail together. */
export class NativeGroup implements Grouping {
  readonly #nccl: Nccl;
  #end: PromiseWithResolvers<void> | undefined;

  constructor(nccl: Nccl) {
    this.#nccl = nccl;
  }

  /** Resolves when the calls of the open group have been made. */
  ended(): Promise<void> {
    this.#end ??= withResolvers();
    return this.#end.promise;
  }

  groupStart(): void {
    this.#check(this.#nccl.ncclGroupStart(), 'ncclGroupStart');
  }

  groupEnd(): void {
    this.#check(this.#nccl.ncclGroupEnd(), 'ncclGroupEnd');
  }

  groupDone(error: unknown): void {
    const end = this.#end;
    this.#end = undefined;
    if (error === undefined) end?.resolve();
    else end?.reject(error);
  }

  #check(result: unknown, api: string): void {
    if (result !== 0) check(this.#nccl, result, api);
  }
}

interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Promise.withResolvers, which Node.js has from 22 on. */
function withResolvers(): PromiseWithResolvers<void> {
  let [resolve, reject] = [(): void => undefined, (_error: unknown): void => undefined];
  const promise = new Promise<void>((done, failed) => {
    [resolve, reject] = [done, failed];
  });
  return { promise, resolve, reject };
}

const groups = new WeakMap<Nccl, NativeGroup>();

/** The group of a library. */
export function groupOf(nccl: Nccl): NativeGroup {
  const known = groups.get(nccl) ?? new NativeGroup(nccl);
  groups.set(nccl, known);
  return known;
}
