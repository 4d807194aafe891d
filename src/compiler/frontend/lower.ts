/**
 * Lowering of statements: the typed tree becomes the IR of a kernel.
 */
import type { Expr, Stmt, ValueType, WarpOp } from '../ir/ops.ts';
import { isFloat, widen } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import { isHalved } from '../types/integers.ts';
import { machine } from '../types/lattice.ts';
import type { Range, Root, TExpr, TStmt, WaveOp } from '../types/tree.ts';
import { typeOf } from '../types/typing.ts';
import { refuseLocalAtomic } from './array-choices.ts';
import { castTo } from './convert.ts';
import { fail } from './diagnostics.ts';
import { ExpressionLowering, type LoweringOptions } from './lower-expression.ts';
import { roundedByStore } from './lower-halves.ts';
import { Symbols } from './symbols.ts';
import { isMisaligned, storePieces } from './unaligned.ts';
import { WaveLowering } from './wave-lowering.ts';

export interface Lowered {
  readonly symbols: Symbols;
  readonly body: readonly Stmt[];
}

export function lower(
  body: readonly TStmt[],
  ranges: readonly Range[],
  options: LoweringOptions & { readonly indexBits: 32 | 64 },
): Lowered {
  const typeOfRange = (r: Range): ValueType => machine(r.type ?? 'i32', options.indexBits, options.defaultFloat);
  const symbols = new Symbols(options.indexBits, typeOfRange);
  let list: Stmt[] = [];
  const hold = (value: Expr, pos: Pos): Expr => {
    if (value.op === 'var' || value.op === 'const' || value.op === 'param') return value;
    const v = symbols.fresh('%t', value.type);
    list.push({ op: 'assign', var: v, value, pos });
    return { op: 'var', type: v.type, var: v };
  };
  const emit = (s: Stmt): void => {
    list.push(s);
  };
  const collect = (run: () => void): Stmt[] => {
    const saved = list;
    const out: Stmt[] = [];
    list = out;
    run();
    list = saved;
    return out;
  };
  const block = (stmts: readonly TStmt[]): Stmt[] => collect(() => stmts.forEach(statement));
  const x = new ExpressionLowering(symbols, body, ranges, options, { hold, emit, collect });

  const waves = new WaveLowering(symbols);

  /** An exchange in a wavefront: what stands for it on every device. */
  const wave = (s: TStmt & { k: 'warp' }, fn: WaveOp): readonly Stmt[] => {
    const { pos, range } = s;
    const [value, lane, otherwise] = s.args;
    if (value === undefined || lane === undefined || range === undefined) throw new Error(`${fn} lacks an operand`);
    const result = symbols.ofRange(range);
    if (result.type === 'bool') fail('K336', pos, 'lanes exchange numbers, not booleans', { help: 'write x ? 1 : 0' });
    const args = {
      value: hold(x.to(value, result.type, { what: 'the value', wraps: true }), pos),
      lane: hold(x.to(lane, 'i32', { what: 'the lane' }), pos),
      otherwise: otherwise && hold(x.to(otherwise, result.type, { what: 'the identity', wraps: true }), pos),
    };
    return fn === 'shflPush' ? waves.push(args, result, pos) : waves.pull(args, result, pos);
  };

  const warp = (s: TStmt & { k: 'warp' }, fn: WarpOp): Stmt => {
    const { pos } = s;
    const result = s.range === undefined ? undefined : symbols.ofRange(s.range);
    const [first, second] = s.args;
    const mask = s.mask && x.to(s.mask, 'u32', { what: 'the mask' });
    const args: Expr[] = [];
    if (first !== undefined) {
      const exchanged = fn.startsWith('shfl') || fn.startsWith('match');
      if (exchanged && typeOf(first) === 'bool') {
        fail('K336', pos, 'lanes exchange and compare numbers, not booleans', {
          help: 'write x ? 1 : 0, or use a vote',
        });
      }
      const t = s.range?.type ?? 'i32';
      if (fn.startsWith('shfl')) args.push(x.to(first, result?.type ?? 'i32', { what: 'the value', wraps: true }, t));
      else args.push(fn.startsWith('match') ? x.lower(first, undefined) : x.bool(first));
    }
    if (second !== undefined) args.push(x.to(second, 'i32', { what: 'the lane' }));
    return { op: 'warp', fn, mask, args, result, pos };
  };

  const statement = (s: TStmt): void => {
    const { pos } = s;
    switch (s.k) {
      case 'assign': {
        if (s.range === undefined) throw new Error('no live range');
        const v = symbols.ofRange(s.range);
        for (const [part, of] of x.quotients.parts(s.range, s.value))
          list.push({ op: 'assign', var: part, value: of, pos });
        const value =
          v.type === 'bool'
            ? x.bool(s.value)
            : x.to(
                s.value,
                v.type,
                { what: `the variable ${v.name}`, wraps: true, halves: isHalved(s.range) },
                s.range.type,
              );
        list.push({ op: 'assign', var: v, value, pos });
        return;
      }
      case 'store': {
        const { elem } = symbols.typed(s.mem);
        // Elements of an open type are variables of it: no conversion is meant.
        const { open, name } = s.mem.root;
        const lowered = s.mem.clamped
          ? x.clamped(s.value)
          : open?.type === 'bool'
            ? x.bool(s.value)
            : x.to(
                s.value,
                widen(elem),
                open === undefined ? { store: elem, cuts: true } : { what: `the array ${name}` },
              );
        const value = s.mem.which === undefined ? lowered : hold(lowered, pos);
        const misaligned = isMisaligned(symbols.typed(s.mem));
        x.memory.access(s.mem, (mem) => {
          if (misaligned) list.push(...storePieces(mem, s.mem.align, value, (v) => hold(v, pos)));
          else list.push({ op: 'store', mem, value: roundedByStore(value, elem), pos });
        });
        return;
      }
      case 'atomic': {
        const { elem } = s.mem;
        // What is compared with a narrow element is as narrow.
        const lowered = s.args.map((a) => castTo(x.to(a, widen(elem), { store: elem }), elem, a.pos));
        const args = s.mem.which === undefined ? lowered : lowered.map((a) => hold(a, pos));
        const result = s.range === undefined ? undefined : symbols.ofRange(s.range);
        // Integers are never NaN.
        const fn = isFloat(elem) ? s.fn : s.fn === 'nanMin' ? 'min' : s.fn === 'nanMax' ? 'max' : s.fn;
        x.memory.access(s.mem, (mem, root) => {
          if (root.space === 'local') refuseLocalAtomic(`cuda.atomic.${s.fn}`, pos);
          list.push({ op: 'atomic', fn, mem, args, result, order: s.order, scope: s.scope, pos });
        });
        return;
      }
      case 'if': {
        const cond = x.bool(s.cond);
        list.push({ op: 'if', cond, then: block(s.then), else: block(s.else), pos });
        return;
      }
      case 'loop':
        list.push({ op: 'loop', label: s.label, body: block(s.body), update: block(s.update), pos });
        return;
      case 'block':
        list.push({ op: 'block', label: s.label, body: block(s.body), inlined: s.inlined, pos });
        return;
      case 'break':
      case 'continue':
        list.push({ op: s.k, label: s.label, pos });
        return;
      case 'return':
        list.push({ op: 'return', pos });
        return;
      case 'barrier': {
        const pred = s.pred === undefined ? undefined : x.bool(s.pred);
        const result = s.range === undefined ? undefined : symbols.ofRange(s.range);
        list.push({ op: 'barrier', kind: s.kind, ...(s.whole && { whole: s.whole }), pred, result, pos });
        return;
      }
      case 'warp':
        if (s.fn === 'shflPush' || s.fn === 'shflPull') {
          const { fn } = s;
          list.push(...wave(s, fn));
        } else list.push(warp(s, s.fn));
        return;
      case 'extern': {
        const either = s.args.findIndex((a) => a.k === 'address' && a.mem.which !== undefined);
        const pointer = s.args[either];
        if (pointer?.k === 'address') {
          const to = (root: Root): TExpr => ({ ...pointer, mem: { ...pointer.mem, root, which: undefined } });
          const call = (root: Root): void => statement({ ...s, args: s.args.with(either, to(root)) });
          x.memory.access(pointer.mem, (_, root) => call(root));
          return;
        }
        const args = s.args.map((a, k) => {
          const { elem, pointer } = s.fn.params[k] ?? { elem: 'i32', pointer: true };
          if (pointer) return x.lower(a, undefined);
          return x.to(a, widen(elem), { what: `argument ${k + 1} of ${s.fn.name}` });
        });
        const result = s.range === undefined ? undefined : symbols.ofRange(s.range);
        list.push({ op: 'extern', fn: s.fn, args, result, pos });
        return;
      }
      case 'rest':
        list.push({ op: 'rest', nanoseconds: x.to(s.nanoseconds, 'u32', { what: 'the time' }), pos });
        return;
      case 'fence':
        list.push({ op: 'fence', scope: s.scope, pos });
        return;
      case 'print':
        list.push({
          op: 'print',
          parts: s.parts.map((p) => (typeof p === 'string' ? p : x.lower(x.settled(p, 'printing'), undefined))),
          forms: s.forms,
          pos,
        });
        return;
      case 'name':
      case 'overwritten':
        return;
      case 'trap':
        list.push({ op: 'trap', message: s.message, pos });
        return;
      case 'recursive':
      case 'recurse':
        throw new Error('recursion was not unfolded');
      case 'presence':
        throw new Error('presence was not resolved');
      default:
        s satisfies never;
    }
  };
  const out = block(body);
  return { symbols, body: [...waves.start(), ...out] };
}
