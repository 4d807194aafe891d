/**
 * Natural kernels: functions as people write them in TypeScript, run by JavaScript and as kernels; both must give the same.
 *
 * A program is a function of the thread's number and of arguments. JavaScript calls it for one number after the other, on arguments
 * of its own; the kernel is nothing but the function behind its guard. So each stands beside the JavaScript that it means.
 */
import { cuda, type JitOptions } from '../../src/index.ts';
import { closeElements } from '../assert.ts';
import { eachType } from '../support.ts';
import { launch, read } from '../waiting.ts';

/** Programs by name, as tests of a chapter. */
export type Programs = Readonly<Record<string, () => Promise<void>>>;

type Argument<T> = T extends number ? number : T extends boolean ? boolean : T;
type Arguments<A extends readonly unknown[]> = { [K in keyof A]: Argument<A[K]> };
type Data = Float32Array | Float64Array | Int32Array;

/** How far apart JavaScript, which computes in doubles, and a kernel may be. */
function toleranceOf(data: Data): number {
  return data instanceof Float32Array ? 2e-5 : data instanceof Float64Array ? 1e-11 : 0;
}

function isData(value: unknown): value is Data {
  return ArrayBuffer.isView(value);
}

/**
 * A program for threads 0 to `threads` - 1. Each array among the arguments is compared afterwards: integers exactly, floats within the rounding of
 * their type, or within `tolerance`. Where an array is one of doubles, it is one of f32 in another turn, which devices without f64 take too, and so are numbers; not
 * where `only` says that the program needs f64, since it goes on for more digits than f32 has, or jumps.
 */
export function program<const A extends readonly unknown[]>(
  threads: number,
  args: A,
  body: (i: number, ...args: Arguments<A>) => void,
  tolerance?: number,
  only?: 'f64',
): () => Promise<void> {
  const run = async (given: A, options: JitOptions, least: number): Promise<void> => {
    const plain = given.map((a) => (isData(a) ? a.slice() : a)) as Arguments<A>;
    for (let i = 0; i < threads; i++) body(i, ...plain);
    const kernel = cuda.jit((...rest: Arguments<A>) => {
      const i = cuda.grid(1);
      if (i < threads) body(i, ...rest);
    }, options);
    const passed = given.map((a) => (isData(a) ? cuda.toDevice(a) : a));
    await launch(kernel as never, { threads, block: 32 }, ...(passed as never));
    for (const [k, expected] of plain.entries()) {
      if (!isData(expected)) continue;
      const actual = (await read(passed[k] as never)) as Data;
      const within = Math.max(tolerance ?? toleranceOf(expected), expected instanceof Float32Array ? least : 0);
      closeElements(actual, expected, within, `element of argument ${k + 1},`);
    }
  };
  const asIs = () => run(args, {}, 0);
  if (only === 'f64' || !args.some((a) => a instanceof Float64Array)) return asIs;
  const narrow = args.map((a) => (a instanceof Float64Array ? Float32Array.from(a) : a)) as unknown as A;
  return () => eachType([asIs, () => run(narrow, { defaultFloat: 'f32' }, 1e-4)], (turn) => turn());
}

/** Numbers from `low` to `high`, the same every time. */
export function numbers(count: number, low = 0, high = 1): number[] {
  let state = count + 17;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return low + (state / 2 ** 32) * (high - low);
  });
}

export const floats = (count: number, low = 0, high = 1): Float32Array => Float32Array.from(numbers(count, low, high));
export const doubles = (count: number, low = 0, high = 1): Float64Array => Float64Array.from(numbers(count, low, high));
export const bytes = (count: number): Uint8Array => Uint8Array.from(numbers(count, 0, 256));
export const integers = (count: number, low: number, high: number): Int32Array =>
  Int32Array.from(numbers(count, low, high));
export const text = (line: string): Uint8Array => new TextEncoder().encode(line);
