/**
 * What the parts of the PTX renderer share while they render one kernel, and how types and constants are written.
 */
import type { ArraySym, Expr, Kernel, ValueType, Var } from '../../ir/ops.ts';
import type { FaultSite, PrintSite } from '../sites.ts';
import type { Code, Operand, RegClass } from './code.ts';
import type { Layout } from './layout.ts';
import type { LineTable } from './lines.ts';
import type { PtxOptions, PtxTarget } from './module.ts';

export interface Gen {
  readonly kernel: Kernel;
  readonly target: PtxTarget;
  readonly options: PtxOptions;
  readonly code: Code;
  readonly layout: Layout;
  /** The value of an expression: a register, or an immediate. Those of type bool are always in registers. */
  value(e: Expr): Operand;
  /** Registers of variables, by id. */
  readonly vars: ReadonlyMap<number, Operand>;
  /** Parameters whose arrays the kernel never writes. */
  readonly readOnly: ReadonlySet<number>;
  /** What the expressions of the statement in hand have been evaluated to. */
  readonly evaluated: Map<Expr, Operand>;
  /** The bits of the halves that registers of f32 were made from. */
  readonly halves: Map<Operand, { readonly name: 'f16' | 'bf16'; readonly bits: Operand }>;
  readonly sites: FaultSite[];
  readonly prints: PrintSite[];
  /** Slots of shared memory that the code itself uses. */
  slots: number;
  /** Whether blocks wait for each other. */
  cooperative: boolean;
  /** Loops around the statement in hand. */
  loopDepth: number;
  /** Constructs around the statement in hand, by label. */
  readonly targets: Map<number, { readonly breakLabel: string; readonly continueLabel: string | undefined }>;
  usesReadOnlyPath: boolean;
  readonly lines: LineTable | undefined;
  /** The newest PTX ISA version that an instruction asked for. */
  isa: readonly [number, number];
  readonly fault:
    | {
        readonly label: string;
        used: boolean;
        readonly site: Operand;
        readonly index: Operand;
        readonly extent: Operand;
      }
    | undefined;
}

/** How a type is called in arithmetic and in moves, and where its values are kept. */
export interface TypeNames {
  readonly arith: string;
  readonly bits: string;
  readonly reg: RegClass;
}

export const TYPES: Readonly<Record<ValueType, TypeNames>> = {
  bool: { arith: 'pred', bits: 'pred', reg: 'p' },
  i32: { arith: 's32', bits: 'b32', reg: 'r' },
  u32: { arith: 'u32', bits: 'b32', reg: 'r' },
  i64: { arith: 's64', bits: 'b64', reg: 'rd' },
  u64: { arith: 'u64', bits: 'b64', reg: 'rd' },
  f32: { arith: 'f32', bits: 'f32', reg: 'f' },
  f64: { arith: 'f64', bits: 'f64', reg: 'fd' },
};

export function isWide(type: ValueType): boolean {
  return type === 'i64' || type === 'u64';
}

const scratch = new DataView(new ArrayBuffer(8));

/** A number as an immediate: floats as their bits, so that nothing is rounded on the way. */
export function immediate(type: ValueType, value: number | bigint | boolean): string {
  switch (type) {
    case 'f32':
      scratch.setFloat32(0, Number(value));
      return `0f${hex(BigInt(scratch.getUint32(0)), 8)}`;
    case 'f64':
      scratch.setFloat64(0, Number(value));
      return `0d${hex(scratch.getBigUint64(0), 16)}`;
    case 'i64':
    case 'u64': {
      const n = BigInt(value);
      return n > -0x80000000n && n < 0x80000000n ? String(n) : `0x${hex(BigInt.asUintN(64, n), 16)}`;
    }
    case 'bool':
      return value ? '1' : '0';
    default:
      return String(value);
  }
}

function hex(n: bigint, digits: number): string {
  return n.toString(16).toUpperCase().padStart(digits, '0');
}

/** Whether an operand is no register. */
export function isImmediate(o: Operand): boolean {
  return !o.startsWith('%');
}

/** The operand in a register, for instructions that take no immediate. */
export function inRegister(g: Gen, type: ValueType, o: Operand): Operand {
  return isImmediate(o) ? g.code.value(TYPES[type].reg, `mov.${TYPES[type].bits}`, [o]) : o;
}

/** The name under which changes of an array's memory are counted; undefined where nothing changes. */
export function stateOf(g: Gen, array: ArraySym): string | undefined {
  switch (array.space) {
    case 'constant':
      return undefined;
    case 'global':
      return isUnwritten(g, array) ? undefined : 'memory:global';
    case 'shared':
      return array.dynamic ? 'memory:dynamic' : `memory:${array.id}`;
    case 'local':
      return `memory:${array.id}`;
  }
}

/** Whether nobody changes this array while the kernel runs. */
export function isUnwritten(g: Gen, array: ArraySym): boolean {
  return array.space === 'global' && !g.options.aliased && g.readOnly.has(array.param ?? -1);
}

/** Other threads may have changed all memory that they can reach. */
export function allChanged(g: Gen): void {
  g.code.changed('memory:global');
  g.code.changed('memory:dynamic');
  for (const array of g.kernel.arrays) if (array.space === 'shared') g.code.changed(`memory:${array.id}`);
}

/** The kernel needs at least this version of the language. */
export function needIsa(g: Gen, major: number, minor: number): void {
  if (g.isa[0] < major || (g.isa[0] === major && g.isa[1] < minor)) g.isa = [major, minor];
}

/**
 * The class of the register that a variable of this type is kept in. Not predicates: of those that change in loops, the assembler of
 * CUDA 13.0 loses track (a flag turned over twice in a loop of two rounds came out turned over once).
 */
export function classOf(type: ValueType): RegClass {
  return type === 'bool' ? 'r' : TYPES[type].reg;
}

/** The value of a variable. */
export function readVar(g: Gen, v: Var): Operand {
  const register = g.vars.get(v.id);
  if (register === undefined) throw new Error(`internal error: the variable ${v.name} is not among the kernel's`);
  return v.type === 'bool' ? g.code.value('p', 'setp.ne.b32', [register, '0']) : register;
}

/** Gives a variable a new value. */
export function writeVar(g: Gen, v: Var, operand: Operand): void {
  const register = g.vars.get(v.id);
  if (register === undefined || register === operand) return;
  if (v.type === 'bool') g.code.emit(`selp.b32 ${register}, 1, 0, ${operand}`);
  else g.code.emit(`mov.${TYPES[v.type].bits} ${register}, ${operand}`);
  g.code.changed(register);
}
