/**
 * Bad calls: each function with each odd value in each position, the other arguments being good; what is wrong about how a call ended.
 *
 * A call may be accepted, or throw an error of the library's own, or the program's own. A raw error of the engine, a message of
 * thousands of characters, a changed array or prototype, or memory that a refused call keeps is a finding.
 */
import { cuda } from '../../src/index.ts';
import { ODD_VALUES, OwnError } from './odd-values.ts';
import { type Callable, isAddress, positions, surface } from './surface.ts';

export interface Call {
  readonly callable: Callable;
  readonly position: number;
  readonly odd: string;
}

/** A call may take this long, in milliseconds. */
export const LIMIT_MS = 2_000;
/** A message may have this many characters. */
const LONGEST = 2_500;

export function allCalls(): Call[] {
  const calls: Call[] = [];
  for (const callable of surface()) {
    for (let position = 0; position < positions(callable); position++) {
      for (const [odd, make] of Object.entries(ODD_VALUES)) {
        if (!isAddress(callable, make())) calls.push({ callable, position, odd });
      }
    }
  }
  return calls;
}

export function describeCall({ callable, position, odd }: Call): string {
  return callable.how === 'set' ? `${callable.name} ${odd}` : `${callable.name}, argument ${position}: ${odd}`;
}

/** What no call may change. */
export interface World {
  readonly prototypes: string;
  /** Whether the canaries still sing. */
  check(): string | undefined;
}

const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype, Float32Array.prototype, Promise.prototype];

function fingerprint(): string {
  return PROTOTYPES.map((p) => Reflect.ownKeys(p).map(String).join()).join(';');
}

export async function prepareWorld(): Promise<World> {
  cuda.selectDevice('cpu');
  const context = cuda.currentContext();
  const canary = cuda.toDevice(Int32Array.of(3, 1, 4, 1, 5, 9, 2, 6));
  const out = cuda.toDevice(new Int32Array(8));
  const double = cuda.jit((x: Int32Array, y: Int32Array) => {
    const i = cuda.grid(1);
    if (i < y.length) y[i] = 2 * x[i]!;
  });
  const prototypes = fingerprint();
  return {
    prototypes,
    check() {
      if (fingerprint() !== prototypes) return 'a prototype has changed';
      if (cuda.currentContext() !== context) {
        cuda.selectDevice('cpu');
        return cuda.currentContext() === context ? undefined : 'the device has been closed';
      }
      double.launch({ threads: 8 }, canary as never, out as never);
      const result = Array.from(out.copyToHost() as unknown as Int32Array).join();
      return result === '6,2,8,2,10,18,4,12' ? undefined : `the canary gives ${result}`;
    },
  };
}

/** Makes a call; what is wrong with how it ended, or undefined. */
export async function makeCall(call: Call, world: World): Promise<string | undefined> {
  const { callable, position, odd } = call;
  const receiver = callable.make() as Record<string, unknown>;
  const given = callable.valid.map((make) => make());
  while (given.length < position) given.push(undefined);
  given[position] = (ODD_VALUES[odd] as () => unknown)();
  const before = cuda.memoryStats().live;
  const start = performance.now();
  let wrong: string | undefined;
  let threw = false;
  let result: unknown;
  try {
    result = invoke(receiver, callable, given);
    if (result instanceof Promise) result = await within(result);
  } catch (error) {
    threw = true;
    wrong = whatIsWrongWith(error, callable.how);
  }
  const took = performance.now() - start;
  if (wrong === undefined && took > LIMIT_MS) wrong = `takes ${Math.round(took)} ms`;
  try {
    wrong ??= world.check();
    if (threw && callable.how === 'call' && wrong === undefined) {
      const kept = cuda.memoryStats().live - before;
      if (kept > 0) wrong = `keeps ${kept} bytes although it throws`;
    }
  } catch (error) {
    wrong ??= `afterwards: ${String(error).slice(0, 200)}`;
  }
  for (const value of [result, ...given, receiver]) release(value);
  return wrong;
}

function invoke(receiver: Record<string, unknown>, { key, how }: Callable, given: readonly unknown[]): unknown {
  if (how === 'set') {
    receiver[key] = given[0];
    return undefined;
  }
  const f = receiver[key] as (...args: readonly unknown[]) => unknown;
  return how === 'new' ? Reflect.construct(f, given) : Reflect.apply(f, receiver, given);
}

/** Arrays, streams and the like are given back; values of the program have nothing to give. */
function release(value: unknown): void {
  try {
    (value as { dispose?: () => void } | undefined)?.dispose?.();
  } catch {
    // An odd value, or one that is gone already.
  }
}

async function within(promise: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('the promise is never settled')), LIMIT_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

function whatIsWrongWith(error: unknown, how: Callable['how']): string | undefined {
  if (error instanceof OwnError) return undefined;
  if (!(error instanceof Error)) return `throws ${typeof error}`;
  const { code } = error as { code?: unknown };
  // What the engine says of a class that is called, or of a proxy that the program has revoked, is not the library's to say.
  if (/cannot be invoked without 'new'|on a proxy that has been revoked/.test(error.message)) return undefined;
  // What assignment says of a property that cannot be assigned to is the language's own, and clear.
  if (how === 'set' && /only a getter|read only|not extensible|redefine/.test(error.message)) return undefined;
  if (typeof code !== 'string' || !/^(E_|K\d)/.test(code)) {
    const at = error.stack
      ?.split('\n')
      .find((line) => /\/src\//.test(line))
      ?.replace(/^.*\/src\//, 'src/')
      .replace(/\)$/, '');
    return `raw ${error.constructor.name}: ${error.message.slice(0, 160)} (${at ?? 'nowhere'})`;
  }
  return error.message.length > LONGEST ? `a message of ${error.message.length} characters` : undefined;
}
