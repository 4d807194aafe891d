/**
 * What the parts of the WGSL renderer share while they render one kernel: how types, names and constants are written.
 *
 * Expressions are texts that hold together: a name, a call, or in parentheses. WGSL has no order between most of its operators.
 */
import type { ArraySym, Expr, Kernel, ValueType, Var } from '../../ir/ops.ts';
import type { Lines } from '../lines.ts';
import { plainName } from '../names.ts';
import type { PrintSite } from '../sites.ts';
import type { WgslOptions } from './module.ts';

/** Prints operands. */
export type Print = (e: Expr) => string;

/** Where an array stands. */
export interface Memory {
  /** The variable, an array of words. */
  readonly name: string;
  /** Its elements are atomic words. */
  readonly atomic: boolean;
  /** Where the array begins in it, in bytes: a text, or nothing. */
  readonly base: string | undefined;
  /** The words of the variable, where they are known. */
  readonly words: number | undefined;
  /** Shared by the threads of one block, or by all. */
  readonly shared: boolean;
  /** Its elements are parts of vectors (interleave.ts). */
  readonly lane?: Lane;
}

export interface Lane {
  readonly name: 'x' | 'y' | 'z' | 'w';
  /** The arrays of the vectors, in the order of their parts. */
  readonly arrays: readonly ArraySym[];
}

/** A sum or a difference of f32. */
export type FloatSum = Expr & { readonly op: 'binary'; readonly fn: 'add' | 'sub' };

/** What is known of the constants of float arithmetic (constants.ts). */
export interface Constants {
  /** Values that variables are given. */
  readonly values: ReadonlyMap<number, readonly Expr[]>;
  /** Products with a constant, of one and the same factor in one sum. */
  readonly factored: ReadonlySet<Expr>;
  /** Whether the constant of an operation is hidden. */
  readonly hidden: Map<Expr, boolean>;
}

export interface Gen {
  readonly kernel: Kernel;
  readonly options: WgslOptions;
  readonly lines: Lines;
  /** Extensions of WGSL. */
  readonly enabled: Set<'f16' | 'subgroups'>;
  /** Functions, and variables of the module, by name. */
  readonly helpers: Map<string, string>;
  readonly memories: ReadonlyMap<ArraySym, Memory>;
  /** The text of a parameter's value, by index. */
  readonly values: ReadonlyMap<number, string>;
  readonly prints: PrintSite[];
  /** Where a fault leaves what it says. */
  readonly fault: { readonly index: Var; readonly extent: Var } | undefined;
  /** Whether a thread that fails says so at the next barrier, or at the end. */
  readonly latent: boolean;
  /** Variables that WGSL's own analysis finds to be the same in all threads. */
  readonly uniform: ReadonlySet<number>;
  readonly constants: Constants;
  /** Constants of floats that compilers must not see, by name: declarations. */
  readonly hidden: Map<string, string>;
  /** The sums that variables were last given, by the variables' numbers. */
  readonly sums: Map<number, FloatSum>;
  /** Variables that are declared where their loops begin. */
  readonly scoped: Set<number>;
  /** Flags of jumps out of several constructs at once. */
  readonly jumps: Set<string>;
}

const VALUES: Readonly<Record<Exclude<ValueType, 'f64'>, string>> = {
  bool: 'bool',
  i32: 'i32',
  u32: 'u32',
  // Two words, low half first.
  i64: 'vec2<u32>',
  u64: 'vec2<u32>',
  f32: 'f32',
};

/** The type of values in variables. */
export function typeOf(type: ValueType): string {
  if (type === 'f64') throw new Error('internal error: f64 was not refused');
  return VALUES[type];
}

export function isWide(type: ValueType): type is 'i64' | 'u64' {
  return type === 'i64' || type === 'u64';
}

export function varName(v: Var): string {
  return `v${v.id}_${plainName(v.name)}`;
}

export function call(name: string, ...args: readonly string[]): string {
  return `${name}(${args.join(', ')})`;
}

/** Adds a function or a variable to the module, under its name; `needs` are those that it uses. */
export function define(g: Pick<Gen, 'helpers'>, name: string, text: string): string {
  if (!g.helpers.has(name)) g.helpers.set(name, text);
  return name;
}

const scratch = new DataView(new ArrayBuffer(8));

/** A constant. What WGSL does not allow in constant expressions, NaN and the infinities, comes by way of a variable. */
export function constantOf(g: Gen, { type, value }: Expr & { op: 'const' }): string {
  switch (type) {
    case 'bool':
      return value ? 'true' : 'false';
    case 'i32':
      return signed(Number(value));
    case 'u32':
      return `${Number(value) >>> 0}u`;
    case 'i64':
    case 'u64': {
      const bits = BigInt.asUintN(64, BigInt(value));
      return `vec2<u32>(${bits & 0xffffffffn}u, ${bits >> 32n}u)`;
    }
    default:
      return float(g, Number(value));
  }
}

function signed(n: number): string {
  return n === -(2 ** 31) ? 'i32(-2147483648)' : n < 0 ? `(${n}i)` : `${n}i`;
}

function float(g: Gen, x: number): string {
  if (Number.isInteger(x) && Math.abs(x) < 2 ** 24 && !Object.is(x, -0)) return x < 0 ? `(${x}.0f)` : `${x}.0f`;
  scratch.setFloat32(0, x);
  const bits = `0x${scratch.getUint32(0).toString(16).padStart(8, '0')}u`;
  // Infinities and NaNs are no constants of WGSL's. A constant -0 is one for Tint with a 0 of the same module: both get the sign that comes first.
  const isHidden = !Number.isFinite(Math.fround(x)) || Object.is(Math.fround(x), -0);
  return `bitcast<f32>(${isHidden ? `(${bits} | ${nothing(g)})` : bits})`;
}

export const NOTHING = 'var<private> nothing: u32;';

/** A word that is 0, which compilers do not see. */
export function nothing(g: Pick<Gen, 'helpers'>): string {
  return define(g, 'nothing', NOTHING);
}
