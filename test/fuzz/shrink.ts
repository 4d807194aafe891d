/**
 * Makes a failing program small: drops statements, takes expressions apart, lowers the number of threads, for as long as the same
 * device goes on failing in the same way.
 */

import { printProgram } from './print.ts';
import {
  type ArrayDecl,
  type Expr,
  type FuncDecl,
  isBig,
  type LValue,
  type Maybe,
  type Program,
  type Shown,
  type Stmt,
  type Ty,
} from './program.ts';

function zero(t: Ty, one = false): Expr {
  return { t, k: 'lit', v: t === 'bool' ? one : isBig(t) ? (one ? 1n : 0n) : Number(one) };
}

function* exprs(e: Expr): Iterable<Expr> {
  if (e.k === 'lit') return;
  yield zero(e.t);
  yield zero(e.t, true);
  for (const part of parts(e)) if (part.t === e.t) yield part.k === 'lit' ? { t: part.t, k: 'lit', v: part.v } : part;
  switch (e.k) {
    case 'bin':
    case 'quotient':
    case 'cmp':
    case 'logic':
      for (const a of exprs(e.a)) yield { ...e, a };
      // A counter of a shift or a power stays in its range.
      if (e.k !== 'bin' || e.op !== 'pow') for (const b of exprs(e.b)) yield { ...e, b };
      return;
    case 'un':
    case 'cast':
      for (const a of exprs(e.a)) yield { ...e, a };
      return;
    case 'sel':
      for (const c of exprs(e.c)) yield { ...e, c };
      for (const a of exprs(e.a)) yield { ...e, a };
      for (const b of exprs(e.b)) yield { ...e, b };
      return;
    case 'fma':
    case 'dp4a':
      for (const a of exprs(e.a)) yield { ...e, a };
      for (const b of exprs(e.b)) yield { ...e, b };
      for (const c of exprs(e.c)) yield { ...e, c };
      return;
    case 'call':
      for (let i = 0; i < e.args.length; i++)
        for (const a of exprs(e.args[i] as Expr)) yield { ...e, args: e.args.with(i, a) };
      return;
    case 'load':
      for (const at of places(e.at)) yield { ...e, at };
      return;
    case 'absent':
      for (const of of maybes(e.of)) yield { ...e, of };
      return;
    case 'coalesce':
      for (const of of maybes(e.of)) yield { ...e, of };
      for (const otherwise of exprs(e.otherwise)) yield { ...e, otherwise };
      return;
    default:
      return;
  }
}

function* maybes(m: Maybe): Iterable<Maybe> {
  const { t, nothing } = m;
  if (m.k !== 'none') yield { t, nothing, k: 'none' };
  if (m.k === 'of') for (const value of exprs(m.value)) yield { ...m, value };
  if (m.k === 'ask')
    for (let i = 0; i < m.args.length; i++)
      for (const a of maybes(m.args[i] as Maybe)) yield { ...m, args: m.args.with(i, a) };
  if (m.k !== 'choice') return;
  yield m.a;
  yield m.b;
  for (const c of exprs(m.c)) yield { ...m, c };
  for (const a of maybes(m.a)) yield { ...m, a };
  for (const b of maybes(m.b)) yield { ...m, b };
}

function* places(at: LValue): Iterable<LValue> {
  if (at.form !== 'any') return;
  for (let i = 0; i < at.index.length; i++)
    for (const x of exprs(at.index[i] as Expr)) yield { ...at, index: at.index.with(i, x) };
}

function parts(e: Expr): readonly Expr[] {
  switch (e.k) {
    case 'bin':
    case 'quotient':
    case 'cmp':
    case 'logic':
      return [e.a, e.b];
    case 'un':
    case 'cast':
      return [e.a];
    case 'sel':
      return [e.a, e.b, e.c];
    case 'fma':
    case 'dp4a':
      return [e.a, e.b, e.c];
    case 'call':
      return e.args;
    case 'coalesce':
      return [e.otherwise];
    default:
      return [];
  }
}

function* shownParts(shown: Shown): Iterable<Shown> {
  if (shown.k === 'value') for (const e of exprs(shown.e)) yield { ...shown, e };
  if (shown.k === 'text')
    for (const part of shown.parts)
      yield typeof part === 'string' ? { k: 'word', text: part } : { k: 'value', e: part };
  if (shown.k === 'items') {
    for (let i = 0; i < shown.of.length; i++) {
      if (shown.of.length > 1) yield { ...shown, of: shown.of.toSpliced(i, 1) };
      for (const x of shownParts(shown.of[i] as Shown)) yield { ...shown, of: shown.of.with(i, x) };
    }
  }
  if (shown.k !== 'fields') return;
  yield { k: 'items', of: shown.of.map(([, value]) => value) };
}

function* stmts(s: Stmt): Iterable<readonly Stmt[]> {
  switch (s.k) {
    case 'let':
      for (const value of exprs(s.value)) yield [{ ...s, value }];
      return;
    case 'ratio':
      if (s.other !== undefined) {
        const { other, ...plain } = s;
        yield [plain];
        for (const c of exprs(other.c)) yield [{ ...s, other: { ...other, c } }];
        for (const a of exprs(other.a)) yield [{ ...s, other: { ...other, a } }];
      }
      if (s.uses.length > 1) for (let i = 0; i < s.uses.length; i++) yield [{ ...s, uses: s.uses.toSpliced(i, 1) }];
      for (const a of exprs(s.a)) yield [{ ...s, a }];
      for (const b of exprs(s.b)) yield [{ ...s, b }];
      return;
    case 'set':
    case 'store':
      if (s.op !== undefined) {
        const { op: _, ...plain } = s;
        if (s.value.k !== 'lit' || !s.value.polymorphic) yield [plain];
      }
      for (const value of exprs(s.value)) yield [{ ...s, value }];
      if (s.k === 'store') for (const at of places(s.at)) yield [{ ...s, at }];
      return;
    case 'if':
      yield s.then;
      yield s.else;
      for (const c of exprs(s.c)) yield [{ ...s, c }];
      for (const then of lists(s.then)) yield [{ ...s, then }];
      for (const other of lists(s.else)) yield [{ ...s, else: other }];
      return;
    case 'for':
      if (s.step === 1 && typeof s.from === 'number' && typeof s.to === 'number' && s.to - s.from > 1)
        yield [{ ...s, to: s.from + 1 }];
      if (s.label !== undefined) {
        const { label: _, ...plain } = s;
        yield [plain];
      }
      for (const body of lists(s.body)) yield [{ ...s, body }];
      return;
    case 'while':
      yield s.body;
      if (s.fuel > 1) yield [{ ...s, fuel: 1 }];
      if (s.label !== undefined) {
        const { label: _, ...plain } = s;
        yield [plain];
      }
      for (const c of exprs(s.c)) yield [{ ...s, c }];
      for (const body of lists(s.body)) yield [{ ...s, body }];
      return;
    case 'switch':
      for (const c of s.cases) yield c.body;
      for (const on of exprs(s.on)) yield [{ ...s, on }];
      for (let i = 0; i < s.cases.length; i++) {
        const c = s.cases[i];
        if (c === undefined) continue;
        if (s.cases.length > 1) yield [{ ...s, cases: s.cases.toSpliced(i, 1) }];
        for (const body of lists(c.body)) yield [{ ...s, cases: s.cases.with(i, { ...c, body }) }];
      }
      return;
    case 'return':
      if (s.value !== undefined) for (const value of exprs(s.value)) yield [{ ...s, value }];
      if (s.maybe !== undefined) for (const maybe of maybes(s.maybe)) yield [{ ...s, maybe }];
      return;
    case 'maybe':
      if (s.value !== undefined) for (const value of maybes(s.value)) yield [{ ...s, value }];
      return;
    case 'give':
      for (const value of maybes(s.value)) yield [{ ...s, value }];
      return;
    case 'print':
      if (s.args.length > 1)
        for (let i = 0; i < s.args.length; i++)
          yield [{ ...s, args: s.args.toSpliced(i, 1), names: s.names.toSpliced(i, 1) }];
      for (let i = 0; i < s.args.length; i++)
        for (const x of shownParts(s.args[i] as Shown)) yield [{ ...s, args: s.args.with(i, x) }];
      if (s.names.some((name) => name !== undefined)) yield [{ ...s, names: s.names.map(() => undefined) }];
      return;
    case 'vote':
      yield [{ k: 'barrier' }, { k: 'let', name: s.name, value: zero('i32') }];
      for (const pred of exprs(s.pred)) yield [{ ...s, pred }];
      return;
    case 'atomic':
      for (let i = 0; i < s.args.length; i++)
        for (const a of exprs(s.args[i] as Expr)) yield [{ ...s, args: s.args.with(i, a) }];
      for (const at of places(s.at)) yield [{ ...s, at }];
      return;
    default:
      return;
  }
}

function* lists(list: readonly Stmt[]): Iterable<readonly Stmt[]> {
  for (let size = list.length; size >= 1; size = Math.floor(size / 2)) {
    for (let i = list.length - size; i >= 0; i -= size) yield list.toSpliced(i, size);
  }
  for (let i = 0; i < list.length; i++) {
    for (const s of stmts(list[i] as Stmt)) yield list.toSpliced(i, 1, ...s);
  }
}

function* programs(p: Program): Iterable<Program> {
  if (p.grid > 1) yield { ...p, grid: 1 };
  for (const block of [
    [1, 1],
    [2, 1],
    [4, 1],
    [5, 1],
    [p.block[0], 1],
  ] as const) {
    if (block[0] * block[1] < p.block[0] * p.block[1]) yield { ...p, block };
  }
  if (p.indexBits === 64) yield { ...p, indexBits: 32 };
  for (const body of lists(p.body)) yield { ...p, body };
  const text = printProgram(p)
    .replace(/^.*\n/, '')
    .replace(/ const \w+ = cuda\.\w+\.array.*\n/g, '');
  const unused = (x: { readonly name: string }): boolean => !new RegExp(`\\b${x.name}\\b`).test(text);
  const arrays = p.arrays.filter((a) => !unused(a));
  if (arrays.length < p.arrays.length) yield { ...p, arrays };
  const scalars = p.scalars.filter((a) => !unused(a));
  if (scalars.length < p.scalars.length) yield { ...p, scalars };
  for (let i = 0; i < p.functions.length; i++) {
    const f = p.functions[i] as FuncDecl;
    yield { ...p, functions: p.functions.toSpliced(i, 1) };
    for (const body of lists(f.body)) yield { ...p, functions: p.functions.with(i, { ...f, body }) };
  }
  for (let i = 0; i < p.arrays.length; i++) {
    const a = p.arrays[i] as ArrayDecl;
    if (a.layout !== 'C') yield { ...p, arrays: p.arrays.with(i, { ...a, layout: 'C' }) };
    if (a.data.some((v) => Number(v) !== 0))
      yield {
        ...p,
        arrays: p.arrays.with(i, {
          ...a,
          data: a.data.map(() => (isBig(a.elem) ? 0n : a.elem === 'bool' ? false : 0)),
        }),
      };
  }
}

/** The smallest program found for which `fails` holds; it gives false for programs without a meaning. */
export function shrink(start: Program, fails: (p: Program) => boolean, attempts = 4000): Program {
  let best = start;
  let left = attempts;
  for (let better = true; better && left > 0; ) {
    better = false;
    for (const p of programs(best)) {
      if (--left < 0) break;
      if (!fails(p)) continue;
      best = p;
      better = true;
      break;
    }
  }
  return best;
}
