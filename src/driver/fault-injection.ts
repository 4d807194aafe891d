/**
 * Failures on purpose: a driver in front of another one, whose n-th allocation, free or copy fails as planned.
 *
 * For tests of what happens when a device runs out of memory or breaks. Launches do not pass the driver (executables are
 * kept by the kernels): the context asks the injector before each one.
 */
import { DriverError, OutOfMemoryError } from '../errors.ts';
import type { DeviceDriver } from './driver.ts';

/** The kinds of calls that can be made to fail. */
export type FaultKind = 'allocate' | 'free' | 'copy' | 'launch';

/** Which calls fail, counted from 1: `{ allocate: 3 }`, `{ copy: [1, 2] }`. */
export type FaultPlan = {
  readonly [kind in FaultKind]?: number | readonly number[] | undefined;
} & {
  /** What is thrown instead of the usual error: OutOfMemoryError for allocations, DriverError for the rest. */
  readonly error?: ((kind: FaultKind, n: number) => Error) | undefined;
};

/** Counts calls and lets the planned ones fail. */
export class FaultInjector {
  readonly #plan: FaultPlan;
  readonly #counts: Record<FaultKind, number> = { allocate: 0, free: 0, copy: 0, launch: 0 };

  constructor(plan: FaultPlan) {
    this.#plan = plan;
  }

  /** How many calls of each kind there have been. */
  get counts(): Readonly<Record<FaultKind, number>> {
    return this.#counts;
  }

  /** Counts one call, and throws if it is one that fails. */
  hit(kind: FaultKind): void {
    const n = ++this.#counts[kind];
    const planned = this.#plan[kind];
    if (planned === undefined || !(typeof planned === 'number' ? planned === n : planned.includes(n))) return;
    throw this.#plan.error?.(kind, n) ?? usualError(kind, n);
  }

  /** The driver with this injector in front. */
  wrap(driver: DeviceDriver): DeviceDriver {
    const methods = new Map<PropertyKey, unknown>();
    return new Proxy(driver, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        let method = methods.get(name);
        if (method === undefined) {
          method = this.#intercept(target, kindOf(name), value as Method);
          methods.set(name, method);
        }
        return method;
      },
    });
  }

  #intercept(target: DeviceDriver, kind: FaultKind | undefined, method: Method): Method {
    // Drivers have private fields, which a proxy as `this` cannot reach.
    if (kind === undefined) return (...args) => method.apply(target, args);
    return (...args) => {
      this.hit(kind);
      return method.apply(target, args);
    };
  }
}

type Method = (...args: unknown[]) => unknown;

function kindOf(name: PropertyKey): FaultKind | undefined {
  if (name === 'allocate' || name === 'free') return name;
  if (name === 'allocateHost' || name === 'registerHost' || name === 'openShared') return 'allocate';
  if (name === 'freeHost' || name === 'unregisterHost' || name === 'closeShared') return 'free';
  return typeof name === 'string' && /^(copy|fill)/.test(name) ? 'copy' : undefined;
}

function usualError(kind: FaultKind, n: number): Error {
  const message = `${kind} number ${n} was made to fail`;
  if (kind !== 'allocate') return new DriverError('E_INJECTED', message, { api: kind });
  return new OutOfMemoryError(message, { asked: 0, live: 0, pending: 0, pooled: 0 });
}
