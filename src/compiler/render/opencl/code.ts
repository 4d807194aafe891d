/**
 * What the parts of the OpenCL C renderer share while they render one kernel: lines, pieces of C with their precedence, and how
 * types, names and constants are written.
 */
import { isNarrowFloat, type NarrowName } from '../../../dtype/index.ts';
import type { ArraySym, ElemType, Expr, Kernel, Space, Special, ValueType, Var } from '../../ir/ops.ts';
import type { Lines } from '../lines.ts';
import { plainName } from '../names.ts';
import type { PrintSite } from '../sites.ts';
import type { OpenCLOptions, OpenCLTarget } from './module.ts';

/** How tightly a piece of C holds together; larger is looser. */
export const Level = { atom: 0, unary: 1, product: 2, sum: 3, loose: 4 } as const;
export type Level = (typeof Level)[keyof typeof Level];

/** An expression of C. */
export interface C {
  readonly text: string;
  readonly level: Level;
}

export function atom(text: string): C {
  return { text, level: Level.atom };
}

/** The text of an operand, in parentheses unless it holds together as tightly as this. */
export function within(c: C, level: Level): string {
  return c.level <= level ? c.text : `(${c.text})`;
}

/** `(type)x`. */
export function castTo(type: string, c: C): C {
  return { text: `(${type})${within(c, Level.unary)}`, level: Level.unary };
}

export function callOf(name: string, ...args: readonly C[]): C {
  return atom(`${name}(${args.map((a) => a.text).join(', ')})`);
}

export interface Gen {
  readonly kernel: Kernel;
  readonly target: OpenCLTarget;
  readonly options: OpenCLOptions;
  readonly lines: Lines;
  /** Functions that the kernel calls, by name, each behind those that it calls itself. */
  readonly helpers: Map<string, string>;
  /** Pragmas and the like that stand at the top. */
  readonly extensions: Set<string>;
  readonly prints: PrintSite[];
  /** Array elements that typedefs are needed for. */
  readonly elements: Set<ElemType>;
  /** Which argument the constants that do not fit come in. */
  readonly far: ReadonlySet<ArraySym>;
  /** Parameters of arrays that are only read, and known to share no memory with those that are written. */
  readonly constant: ReadonlySet<number>;
  /** Where a fault leaves what it says. */
  readonly fault: { readonly index: Var; readonly extent: Var } | undefined;
  /** Whether a thread that fails says so at the next barrier, or at the end: see `report` in statements.ts. */
  readonly latent: boolean;
  /** Whether threads vote at barriers. */
  votes: boolean;
  /** Variables with the group's place in the grid. */
  readonly positions: ReadonlyMap<Special, string>;
  /** Parts of indices that the compiler must not see through. */
  readonly opaque: ReadonlySet<Expr>;
  /** Flags of jumps out of several constructs at once. */
  readonly jumps: Set<string>;
}

// ---------------------------------------------------------------- types

const VALUES: Readonly<Record<ValueType, string>> = {
  bool: 'bool',
  i32: 'int',
  u32: 'uint',
  i64: 'long',
  u64: 'ulong',
  f32: 'float',
  f64: 'double',
};

/** The type of values in variables. */
export function typeOf(type: ValueType): string {
  return VALUES[type];
}

/** The unsigned type of the same width. */
export function unsignedOf(type: ValueType): 'uint' | 'ulong' {
  return type === 'i64' || type === 'u64' || type === 'f64' ? 'ulong' : 'uint';
}

const ELEMENTS: Readonly<Record<Exclude<ElemType, NarrowName>, string>> = {
  bool: 'uchar',
  i8: 'char',
  u8: 'uchar',
  i16: 'short',
  u16: 'ushort',
  i32: 'int',
  u32: 'uint',
  f32: 'float',
  i64: 'long',
  u64: 'ulong',
  f64: 'double',
};

/** The C type behind a type of element; of narrow floats their bits. */
export function storedName(elem: ElemType): string {
  return ELEMENTS[isNarrowFloat(elem) ? 'u16' : elem];
}

/** The type of an array's elements in the text: a typedef that may alias others, for memory has views of several types. */
export function elementName(g: Gen, elem: ElemType): string {
  g.elements.add(elem);
  return `${elem}_t`;
}

/** The address space of a pointer, with a blank behind it. HIP's pointers are generic. */
export function spaceName(g: Gen, space: Space): string {
  if (g.target.dialect === 'hip') return '';
  return `${space === 'local' ? 'private' : space === 'shared' ? 'local' : space} `;
}

/** The space in which an array really is. */
export function spaceOf(g: Gen, array: ArraySym): Space {
  return g.far.has(array) ? 'global' : array.space;
}

// ---------------------------------------------------------------- names

export function varName(v: Var): string {
  return `v${v.id}_${plainName(v.name)}`;
}

export function arrayName(array: ArraySym): string {
  return `a${array.id}_${plainName(array.name)}`;
}

export function paramName(g: Gen, index: number): string {
  return `p${index}_${plainName(g.kernel.params[index]?.name ?? '')}`;
}

// ---------------------------------------------------------------- constants

const scratch = new DataView(new ArrayBuffer(8));

/** A constant; floats that are not small integers by their bits, so that nothing is rounded on the way. */
export function constantOf(e: Expr & { op: 'const' }): C {
  const { type, value } = e;
  switch (type) {
    case 'bool':
      return atom(value ? 'true' : 'false');
    case 'i32':
      return signed(BigInt(value), '', -(1n << 31n));
    case 'u32':
      return atom(`${value}u`);
    case 'i64':
      return signed(BigInt(value), 'L', -(1n << 63n));
    case 'u64':
      return atom(`${value}UL`);
    default:
      return float(type, Number(value));
  }
}

function signed(n: bigint, suffix: string, least: bigint): C {
  if (n === least) return atom(`(${n + 1n}${suffix} - 1${suffix})`);
  return n < 0n ? { text: `${n}${suffix}`, level: Level.unary } : atom(`${n}${suffix}`);
}

function float(type: 'f32' | 'f64', x: number): C {
  if (Number.isInteger(x) && Math.abs(x) < 2 ** 24 && !Object.is(x, -0)) {
    return { text: `${x}.0${type === 'f32' ? 'f' : ''}`, level: x < 0 ? Level.unary : Level.atom };
  }
  if (type === 'f32') {
    scratch.setFloat32(0, x);
    return atom(`as_float(0x${hex(BigInt(scratch.getUint32(0)), 8)}u)`);
  }
  scratch.setFloat64(0, x);
  return atom(`as_double(0x${hex(scratch.getBigUint64(0), 16)}UL)`);
}

function hex(n: bigint, digits: number): string {
  return n.toString(16).padStart(digits, '0');
}

/** An integer constant as an unsigned one of the same bits. */
export function unsignedConstant(type: 'i32' | 'i64', value: bigint): C {
  return type === 'i32' ? atom(`${BigInt.asUintN(32, value)}u`) : atom(`${BigInt.asUintN(64, value)}UL`);
}
