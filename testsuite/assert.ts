/**
 * The few assertions that the conformance suite needs, so that it runs without any test framework.
 */

/** What a failed assertion throws. */
export class ConformanceFailure extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConformanceFailure';
  }
}

export type Listed = ArrayLike<unknown> | { readonly data: ArrayLike<unknown>; toArray(): unknown };

/** The elements of a host array, in C order. */
export function elementsOf(value: Listed): unknown[] {
  if ('toArray' in value) return flatten(value.toArray());
  return Array.from(value);
}

function flatten(value: unknown): unknown[] {
  return Array.isArray(value) ? value.flatMap(flatten) : [value];
}

function show(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  return Object.is(value, -0) ? '-0' : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Two values are the same (NaN is NaN; 0 and -0 differ). */
export function same(actual: unknown, expected: unknown, what = 'value'): void {
  if (Object.is(actual, expected)) return;
  throw new ConformanceFailure(`${what}: ${show(actual)} instead of ${show(expected)}`);
}

/** All elements are the same, in C order. */
export function sameElements(actual: Listed, expected: Listed, what = 'element'): void {
  const [a, e] = [elementsOf(actual), elementsOf(expected)];
  if (a.length !== e.length) throw new ConformanceFailure(`${what}s: ${a.length} instead of ${e.length}`);
  for (let k = 0; k < e.length; k++) {
    if (!Object.is(a[k], e[k])) throw new ConformanceFailure(`${what} ${k}: ${show(a[k])} instead of ${show(e[k])}`);
  }
}

/** All elements differ by at most `tolerance` times the larger of 1 and the expected magnitude; they are the same if it is 0. */
export function closeElements(actual: Listed, expected: Listed, tolerance: number, what = 'element'): void {
  if (tolerance === 0) return sameElements(actual, expected, what);
  const [a, e] = [elementsOf(actual), elementsOf(expected)];
  if (a.length !== e.length) throw new ConformanceFailure(`${what}s: ${a.length} instead of ${e.length}`);
  for (let k = 0; k < e.length; k++) {
    const [x, y] = [Number(a[k]), Number(e[k])];
    if (Object.is(x, y)) continue;
    if (!(Math.abs(x - y) <= tolerance * Math.max(1, Math.abs(y))))
      throw new ConformanceFailure(`${what} ${k}: ${x} instead of ${y}`);
  }
}

/** Elements of f32 or f64 differ from the exact values by at most so many units of the last place. `where` names element k. */
export function ulpElements(
  actual: ArrayLike<number>,
  exact: readonly number[],
  ulps: number,
  type: 'float32' | 'float64',
  where: (k: number) => string,
): void {
  const [bits, least, most] = type === 'float32' ? [23, -126, 3.4028234663852886e38] : [52, -1022, Number.MAX_VALUE];
  for (let k = 0; k < exact.length; k++) {
    const [x, y] = [actual[k] as number, exact[k] as number];
    const rounded = type === 'float32' ? Math.fround(y) : y;
    if (Object.is(x, rounded) || (x === 0 && rounded === 0 && y !== 0)) continue;
    // A result just at the end of the range may round to either side of it.
    const reach = (v: number): number => (Math.abs(v) === Number.POSITIVE_INFINITY ? Math.sign(v) * most : v);
    const exponent = Math.max(Math.floor(Math.log2(Math.abs(reach(y)))), least);
    const error = Math.abs(reach(x) - reach(y)) / 2 ** (exponent - bits);
    const near = Number.isFinite(y) && y !== 0 && error <= ulps;
    if (!near || Math.sign(x) * Math.sign(y) < 0) {
      throw new ConformanceFailure(
        `${type} ${where(k)}: ${show(x)} instead of ${show(rounded)}, ${error.toFixed(2)} ulp apart (at most ${ulps})`,
      );
    }
  }
}

/** `run` throws an error whose message matches; its `code` too, when given. */
export function throws(run: () => unknown, message: RegExp, code?: string): void {
  let thrown: unknown;
  try {
    run();
  } catch (e) {
    thrown = e;
  }
  if (thrown === undefined) throw new ConformanceFailure(`nothing was thrown; expected ${message}`);
  check(thrown, message, code);
}

/** As `throws`, for a promise. */
export async function rejects(run: () => Promise<unknown>, message: RegExp, code?: string): Promise<void> {
  let thrown: unknown;
  try {
    await run();
  } catch (e) {
    thrown = e;
  }
  if (thrown === undefined) throw new ConformanceFailure(`nothing was rejected; expected ${message}`);
  check(thrown, message, code);
}

/** Without the lines of the program that it quotes: what is expected stands in them, too. */
function ownWords(message: string): string {
  return message.replace(/^ *\d+ \|.*\n/gm, '');
}

function check(thrown: unknown, message: RegExp, code: string | undefined): void {
  if (!(thrown instanceof Error) || !message.test(ownWords(thrown.message)))
    throw new ConformanceFailure(`threw ${String(thrown)}; expected ${message}`, { cause: thrown });
  const actual = (thrown as { code?: unknown }).code;
  if (code !== undefined && actual !== code)
    throw new ConformanceFailure(`threw code ${String(actual)} instead of ${code}: ${thrown.message}`);
}
