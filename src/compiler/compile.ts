/**
 * The compiler's front door: a captured function and argument types in, a typed and checked kernel out.
 *
 * Elaborate, split live ranges, infer, lower, then the rules that hold on every device (barriers reached uniformly). What a
 * device does with the kernel is its driver's and its renderer's business.
 */
import { KernelError } from '../errors.ts';
import { trace, traceTime } from '../trace.ts';
import type { ArgType, CompiledKernel, CompileOptions, TypeNote } from './contract.ts';
import { rootsOf } from './frontend/array-choices.ts';
import { refuseBarrier } from './frontend/barrier-errors.ts';
import type { CapturedFunction } from './frontend/captured.ts';
import { settleRemainders } from './frontend/known-remainders.ts';
import { lower } from './frontend/lower.ts';
import { evaluatePartially, type Settle } from './frontend/partial-evaluation.ts';
import { describe } from './frontend/positions.ts';
import { RESULT } from './frontend/result-call.ts';
import type { Kernel, Param, ValueType } from './ir/ops.ts';
import { checkBarriers } from './ir/passes/barriers.ts';
import { returnAtEnds } from './ir/passes/tails.ts';
import { printKernel } from './ir/print.ts';
import type { Pos } from './source.ts';
import { infer } from './types/infer.ts';
import { isBlend, isHalf, machine, nameOf, type Type, typeOfElem } from './types/lattice.ts';
import { openRanges } from './types/open-elements.ts';
import { assignRanges, type Definition } from './types/ranges.ts';
import type { Range, Root, ScalarArg } from './types/tree.ts';

/** The type of what a statement gives, where it does not depend on its operands. */
function resultType(s: Definition): Type {
  if (s.k === 'extern') return typeOfElem(s.fn.result ?? 'i32');
  if (s.k === 'atomic') return typeOfElem(s.mem.elem);
  if (s.k === 'warp') return s.fn === 'all' || s.fn === 'any' || s.fn === 'eq' ? 'bool' : 'u32';
  return 'int';
}

function staged<R>({ name }: CompileOptions, what: string, run: () => R): R {
  return traceTime('compile', () => `${name}: ${what}`, run);
}

/** The way up to the types of all that a kernel computes. */
function inferTypes(fn: CapturedFunction, args: readonly ArgType[], options: CompileOptions, settle?: Settle) {
  const { context, body, apart } = staged(options, 'elaborating', () => evaluatePartially(fn, args, options, settle));
  const ranges = [...assignRanges(body, resultType), ...openRanges(context.roots, body)];
  staged(options, 'inferring types', () => infer(body, ranges, context.args, { defaultFloat: options.defaultFloat }));
  return { context, body, apart, ranges };
}

/** The types of what a kernel passes to `takeResult`: none of what is not a number, two of a complex one. Throws as `compileKernel` does. */
export function resultTypes(fn: CapturedFunction, args: readonly ArgType[], options: CompileOptions): ValueType[] {
  const taken = inferTypes(fn, args, options).ranges.filter(({ local }) => local.name === RESULT);
  return taken.map(({ type }) => machine(type ?? 'int', options.indexBits, options.defaultFloat));
}

/** Compiles one specialisation. Throws KernelError with a position in the user's source. Synchronous. */
export function compileKernel(fn: CapturedFunction, args: readonly ArgType[], options: CompileOptions): CompiledKernel {
  try {
    return compileAs(fn, args, options);
  } catch (error) {
    // An integer is missing: it may be a quotient whose remainder the program has asked for. Where none is needed, it stays a fraction.
    if (!(error instanceof KernelError) || error.code !== 'K215') throw error;
    try {
      return compileAs(fn, args, options, settleRemainders);
    } catch (other) {
      throw other instanceof KernelError ? error : other;
    }
  }
}

function compileAs(
  fn: CapturedFunction,
  args: readonly ArgType[],
  options: CompileOptions,
  settle?: Settle,
): CompiledKernel {
  const { context, body, apart, ranges } = inferTypes(fn, args, options, settle);
  const lowered = staged(options, 'lowering', () => lower(body, ranges, options));
  let kernel: Kernel = {
    name: options.name,
    params: lowered.symbols.params,
    arrays: lowered.symbols.arrays,
    vars: lowered.symbols.vars,
    body: lowered.body,
    indexBits: options.indexBits,
    checked: options.checked,
    contract: options.contract,
    fastMath: options.fastMath,
    link: options.link,
    pos: { source: fn.source, start: fn.node.start, end: fn.node.end },
  };
  let problems = checkBarriers(kernel);
  if (problems.length > 0) {
    const conditions = problems;
    kernel = returnAtEnds(kernel);
    // A guard that the author wrote is told as such.
    problems = checkBarriers(kernel).map((p) => conditions.find(({ pos }) => pos === p.pos) ?? p);
  }
  for (const problem of problems) refuseBarrier(problem);
  const types = typesWithLines(typesOf(context.args, ranges, options));
  trace('types', () => `${kernel.name}\n${showTypes(types())}`);
  trace('ir', () => printKernel(kernel));
  return {
    kernel,
    captured: context.captured,
    types,
    apart: apartParameters(apart, kernel.params),
    defaulted: context.args.filter((a) => a.defaulted).map((a) => a.name),
    written: writtenPaths(context.roots),
  };
}

function writtenPaths(roots: readonly Root[]): (readonly number[])[] {
  const paths: (readonly number[])[] = [];
  for (const { written, from } of roots) if (written && from !== undefined && 'path' in from) paths.push(from.path);
  return paths;
}

/** The parameters that the addresses of arrays come by; those that have none are not used. */
function apartParameters(
  pairs: readonly (readonly [Root, Root])[],
  params: readonly Param[],
): readonly (readonly [number, number])[] {
  const addressOf = ({ from }: Root): number | undefined =>
    params.find(({ origin }) => {
      if (from === undefined) return false;
      if ('capture' in from) return origin.kind === 'capturedBase' && origin.capture === from.capture;
      return origin.kind === 'base' && String(origin.path) === String(from.path);
    })?.index;
  const found = new Map<string, readonly [number, number]>();
  for (const [a, b] of pairs.flatMap(([p, q]) => rootsOf(p).flatMap((r) => rootsOf(q).map((s) => [r, s] as const)))) {
    const [p, q] = [addressOf(a), addressOf(b)];
    if (p !== undefined && q !== undefined && p !== q) found.set(`${Math.min(p, q)} ${Math.max(p, q)}`, [p, q]);
  }
  return [...found.values()];
}

type Typed = Omit<TypeNote, 'line'> & { readonly pos: Pos };

function typesOf(args: readonly ScalarArg[], ranges: readonly Range[], options: CompileOptions): Typed[] {
  const found = args.map(({ name, type, pos }): Typed => {
    const known = type !== undefined && isHalf(type);
    return { name, type: known ? type : machine(type ?? 'A', options.indexBits, options.defaultFloat), pos };
  });
  for (const { local, type } of ranges) {
    if (type === undefined || local.name.startsWith('%')) continue;
    found.push({ name: local.name, type: nameInTable(type, options.indexBits), pos: local.pos });
  }
  return found;
}

/** Asked by `inspect` alone, and finding the lines of the author's file takes time. Keeps nothing else of the compiler's alive. */
function typesWithLines(types: readonly Typed[]): () => readonly TypeNote[] {
  return () => types.map(({ name, type, pos }) => ({ name, type, line: describe(pos).line }));
}

function nameInTable(t: Type, indexBits: 32 | 64): string {
  const isIndex = t === 'idx' || (indexBits === 64 && isBlend(t));
  return isIndex ? `${machine(t, indexBits, 'f64')} (index)` : nameOf(t);
}

/** The types of variables as a table: name, type, line. */
export function showTypes(types: readonly TypeNote[]): string {
  const widest = Math.max(0, ...types.map(({ name }) => name.length));
  return types
    .map(({ name, type, line }) => `${name.padEnd(widest)}  ${type}${line > 0 ? `  (line ${line})` : ''}`)
    .join('\n');
}
