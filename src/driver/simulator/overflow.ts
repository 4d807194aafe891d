/**
 * Arithmetic on integers of 32 bits that says when it wraps: the report that the simulator makes of results that JavaScript would not have.
 *
 * Operands come as JavaScript has them: a sum or product inside a larger one is not wrapped yet, as `a - b + c` may fit although `a - b` does not.
 * Which operations are done here is `wrapping.ts`'s to say. Results are what they are on every device.
 */
import { evalBinary, evalCast } from '../../compiler/ir/evaluate.ts';
import type { ElemType } from '../../compiler/ir/ops.ts';

/** An operation that wrapped. `kept` is what it gave instead of `exact`. */
export interface Overflow {
  readonly text: string;
  readonly exact: number;
  readonly kept: number;
  readonly type: 'i32' | 'u32';
}

/** Sums and a few products of numbers up to this are exact in double precision. */
const LARGEST_INSIDE = 2 ** 48;

/** The operations on one type. */
export class Words {
  readonly type: 'i32' | 'u32';
  readonly #unsigned: boolean;
  readonly #report: (site: number, overflow: Overflow) => void;

  constructor(type: 'i32' | 'u32', report: (site: number, overflow: Overflow) => void) {
    this.type = type;
    this.#unsigned = type === 'u32';
    this.#report = report;
  }

  add(site: number, a: number, b: number): number {
    const exact = a + b;
    const kept = this.#wrap(exact);
    if (kept !== exact) this.#say(site, `${a} + ${operand(b)}`, exact, kept);
    return kept;
  }

  sub(site: number, a: number, b: number): number {
    const exact = a - b;
    const kept = this.#wrap(exact);
    if (kept !== exact) this.#say(site, `${a} - ${operand(b)}`, exact, kept);
    return kept;
  }

  mul(site: number, a: number, b: number): number {
    const exact = a * b;
    const kept = this.#wrap(Math.imul(a, b));
    if (kept !== exact) this.#say(site, `${a} * ${operand(b)}`, exact, kept);
    return kept;
  }

  /** A product inside a larger sum or product: as it is, while numbers can hold it. */
  product(site: number, a: number, b: number): number {
    const exact = a * b;
    if (Math.abs(exact) <= LARGEST_INSIDE) return exact;
    return this.mul(site, a, b);
  }

  neg(site: number, a: number): number {
    const kept = this.#wrap(-a);
    if (kept !== -a) this.#say(site, `-${operand(a)}`, -a, kept);
    return kept;
  }

  abs(site: number, a: number): number {
    const exact = Math.abs(a);
    const kept = this.#wrap(exact);
    if (kept !== exact) this.#say(site, `Math.abs(${a})`, exact, kept);
    return kept;
  }

  /** The exponent is not negative. */
  ipow(site: number, a: number, b: number): number {
    const kept = Number(evalBinary('ipow', this.type, this.#wrap(a), b));
    const exact = Math.round(a ** b);
    if (kept !== exact) this.#say(site, `${operand(a)} ** ${b}`, exact, kept);
    return kept;
  }

  #wrap(exact: number): number {
    return this.#unsigned ? exact >>> 0 : exact | 0;
  }

  #say(site: number, text: string, exact: number, kept: number): void {
    this.#report(site, { text, exact, kept, type: this.type });
  }
}

function operand(value: number): string {
  return value < 0 ? `(${value})` : `${value}`;
}

/** What a warning says of it, and its help. */
export function describeOverflow({ text, exact, kept, type }: Overflow): readonly [what: string, help: string] {
  const result = Number.isSafeInteger(exact) ? `${exact}` : `about ${exact.toExponential(2)}`;
  const meant = type === 'i32' ? '| 0' : '>>> 0';
  return [
    `${text} is ${result}, which ${type} cannot hold: it wraps to ${kept},`,
    `if wrapping is meant write (…) ${meant}; if not compute with f64(…), or with i64(…) of one operand; TSAMBA_SIMULATOR_OVERFLOW=0 silences this`,
  ];
}

/** What a warning says of a float that became the nearest element of an integer array; undefined where a typed array would have the same. */
export function describeSaturation(
  value: number,
  kept: number,
  to: ElemType,
): readonly [what: string, help: string] | undefined {
  if (Number.isNaN(value) || Math.trunc(value) === kept) return undefined;
  const wrapped = Number(evalCast('i32', to, value | 0));
  if (wrapped === kept) return undefined;
  return [
    `${value} is stored to an element of ${to}, which cannot hold it: it is ${kept} there, where JavaScript stores ${wrapped},`,
    `clamp it, Math.min(Math.max(…, low), high), or wrap it as JavaScript does, (…) | 0; TSAMBA_SIMULATOR_OVERFLOW=0 silences this`,
  ];
}
