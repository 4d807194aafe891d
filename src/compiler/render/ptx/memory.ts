/**
 * Loads and stores: addresses, and elements to values and back.
 *
 * An address is a base, a product of the index with the scale, and a constant that goes into the instruction. Shared
 * memory has 32-bit addresses; elsewhere a 32-bit index is widened by the multiplication.
 */
import { isNarrowFloat, type NarrowName } from '../../../dtype/index.ts';
import { add, constant, sub } from '../../ir/builder.ts';
import {
  type ArraySym,
  ELEM_SIZE,
  type ElemType,
  type Expr,
  type MemRef,
  type Stmt,
  type Wide,
  widen,
} from '../../ir/ops.ts';
import { checkBounds } from './checks.ts';
import type { Operand, RegClass } from './code.ts';
import { type Gen, inRegister, isUnwritten, isWide, stateOf, TYPES } from './gen.ts';
import { toNarrow, widenNarrow } from './narrow.ts';

/** An address in brackets, and the space that it is in. */
export interface Address {
  readonly space: string;
  readonly text: Operand;
}

/** The address of an element as any function takes it: generic, of 64 bits. */
export function genericAddress(g: Gen, mem: MemRef): Operand {
  const { space, text } = addressOf(g, mem);
  const [, start = '', disp] = /^\[(.*?)(?:\+(-?\d+))?\]$/.exec(text) ?? [];
  const word = space === 'shared';
  const register = start.startsWith('%') ? start : g.code.once(word ? 'r' : 'rd', `mov.u${word ? 32 : 64}`, start);
  const moved =
    disp === undefined ? register : g.code.value(word ? 'r' : 'rd', `add.s${word ? 32 : 64}`, [register, disp]);
  return g.code.value('rd', `cvta.${space}.u64`, [word ? g.code.value('rd', 'cvt.u64.u32', [moved]) : moved]);
}

/** One of several arrays in memory of one kind, as an address. */
export interface Chosen {
  readonly arrays: readonly ArraySym[];
  readonly base: Base;
  /** Nobody changes any of them. */
  readonly unwritten: boolean;
}

export interface Base {
  readonly space: string;
  /** A symbol or register. */
  readonly start: Operand;
  readonly offset: number;
  /** Whether addresses have 64 bits. */
  readonly wide: boolean;
}

export function baseOf(g: Gen, mem: MemRef): Base {
  const { array } = mem;
  const place = g.layout.storage.get(array);
  if (place !== undefined) {
    return { space: place.space, start: place.symbol, offset: place.offset, wide: place.space !== 'shared' };
  }
  const generic = g.code.once('rd', 'ld.param.u64', `[param_${array.param ?? 0}]`);
  return { space: 'global', start: g.code.once('rd', 'cvta.to.global.u64', generic), offset: 0, wide: true };
}

/** The index of an access without what is a constant in its address; undefined when nothing remains. */
export function varyingIndex(g: Gen, mem: MemRef): Expr | undefined {
  return (g.kernel.checked ? splitConstant(mem.index) : split(mem.index))[0];
}

/** The address of an element, whose checks come first. */
export function addressOf(g: Gen, mem: MemRef, base: Base = baseOf(g, mem)): Address {
  checkBounds(g, mem);
  // In checked mode the constant part stays inside: the sum may wrap into the array's range.
  const [rest, part] = g.kernel.checked ? splitConstant(mem.index) : split(mem.index);
  let start = base.start;
  let disp = base.offset + mem.disp + Number(part) * mem.scale;
  // Where shared memory begins depends on the place in the cluster: in a loop the assembler would ask for that in each round.
  const again = base.space === 'shared' && g.loopDepth > 0;
  if (rest !== undefined || again || Math.abs(disp) >= 2 ** 31) {
    if (!start.startsWith('%')) start = g.code.once(base.wide ? 'rd' : 'r', base.wide ? 'mov.u64' : 'mov.u32', start);
    if (Math.abs(disp) >= 2 ** 31) {
      start = g.code.value('rd', 'add.s64', [start, String(disp)]);
      disp = 0;
    }
    if (rest !== undefined)
      start = base.wide ? wideAddress(g, start, rest, mem.scale) : sharedAddress(g, start, rest, mem.scale);
  }
  return { space: base.space, text: disp === 0 ? `[${start}]` : `[${start}+${disp}]` };
}

function wideAddress(g: Gen, base: Operand, index: Expr, scale: number): Operand {
  const i = inRegister(g, index.type, g.value(index));
  const offset = isWide(index.type) ? scaled(g, 'rd', 's64', 'b64', i, scale) : widened(g, i, scale);
  return g.code.value('rd', 'add.s64', [base, offset]);
}

function widened(g: Gen, i: Operand, scale: number): Operand {
  return scale === 1 ? g.code.value('rd', 'cvt.s64.s32', [i]) : g.code.value('rd', 'mul.wide.s32', [i, String(scale)]);
}

function sharedAddress(g: Gen, base: Operand, index: Expr, scale: number): Operand {
  const i = inRegister(g, index.type, g.value(index));
  const word = isWide(index.type) ? g.code.value('r', 'cvt.u32.u64', [i]) : i;
  return g.code.value('r', 'add.s32', [base, scaled(g, 'r', 's32', 'b32', word, scale)]);
}

function scaled(g: Gen, reg: 'r' | 'rd', arith: string, bits: string, i: Operand, scale: number): Operand {
  if (scale === 1) return i;
  const k = Math.log2(scale);
  return Number.isInteger(k)
    ? g.code.value(reg, `shl.${bits}`, [i, String(k)])
    : g.code.value(reg, `mul.lo.${arith}`, [i, String(scale)]);
}

type Parts = readonly [rest: Expr | undefined, constant: bigint];

function splitConstant(e: Expr): Parts {
  return e.op === 'const' ? [undefined, BigInt(e.value)] : [e, 0n];
}

/**
 * An index as an expression and a constant that is added to it. That the rest does not wrap where the index is in range is
 * what indices are, and CUDA's compilers take for granted.
 */
function split(e: Expr): Parts {
  if (e.op !== 'binary' || (e.fn !== 'add' && e.fn !== 'sub')) return splitConstant(e);
  const [a, x] = split(e.a);
  const [b, y] = split(e.b);
  if (x === 0n && y === 0n) return [e, 0n];
  const sum = e.fn === 'add' ? x + y : x - y;
  if (b === undefined) return [a, sum];
  if (a === undefined) return e.fn === 'add' ? [b, sum] : [sub(constant(e.type, 0), b), sum];
  return [(e.fn === 'add' ? add : sub)(a, b), sum];
}

// ---------------------------------------------------------------- elements

/** How an element is called in loads and stores. */
const STORED: Readonly<Record<Exclude<ElemType, NarrowName>, string>> = {
  bool: 'u8',
  i8: 's8',
  u8: 'u8',
  i16: 's16',
  u16: 'u16',
  i32: 'b32',
  u32: 'b32',
  i64: 'b64',
  u64: 'b64',
  f32: 'f32',
  f64: 'f64',
};

function storedAs(elem: ElemType): string {
  return isNarrowFloat(elem) ? `b${8 * ELEM_SIZE[elem]}` : STORED[elem];
}

export function loadElement(g: Gen, mem: MemRef, chosen?: Chosen): Operand {
  if (mem.wide !== undefined && isWideAccess(g, mem)) return loadWide(g, mem, mem.wide);
  const { space, text } = loadable(g, addressOf(g, mem, chosen?.base), mem.elem);
  const op = `ld${space}${cached(g, mem, chosen)}.${storedAs(mem.elem)}`;
  const state = chosen === undefined ? stateOf(g, mem.array) : stateOfChosen(g, chosen);
  if (isNarrowFloat(mem.elem)) return widenNarrow(g, mem.elem, g.code.value('h', op, [text], state));
  switch (mem.elem) {
    case 'bool':
      return g.code.value('p', 'setp.ne.b32', [g.code.value('r', op, [text], state), '0']);
    case 'i8':
    case 'u8':
    case 'i16':
    case 'u16':
      return g.code.value('r', op, [text], state);
    default:
      return g.code.value(TYPES[mem.elem].reg, op, [text], state);
  }
}

function stateOfChosen(g: Gen, { base, unwritten }: Chosen): string | undefined {
  if (base.space === 'global') return unwritten ? undefined : 'memory:global';
  // Each is counted by itself: what is loaded is not known for longer.
  g.code.changed('memory:either');
  return 'memory:either';
}

/** The way of a load through the caches: as the author says, else the read-only one for what nobody changes. */
function cached(
  g: Gen,
  { array, cache }: MemRef,
  { arrays, unwritten }: Omit<Chosen, 'base'> = alone(g, array),
): string {
  if (arrays.every(({ space, param }) => space === 'global' && g.readOnly.has(param ?? -1))) g.usesReadOnlyPath = true;
  // Memory of a thread or a block has no choice of caches, and the read-only path has its own.
  const hint = cache !== undefined && array.space === 'global' ? `.${cache}` : '';
  return hint === '' && unwritten ? '.nc' : hint;
}

function alone(g: Gen, array: ArraySym): Omit<Chosen, 'base'> {
  return { arrays: [array], unwritten: isUnwritten(g, array) };
}

// ---------------------------------------------------------------- neighbours at once

/** Whether neighbours are loaded and stored at once. In checked mode each is checked for itself. */
function isWideAccess(g: Gen, mem: MemRef): boolean {
  return !g.kernel.checked && mem.elem !== 'bool' && mem.array.space !== 'constant';
}

/** The register that an element as it is stored is loaded to. */
function storedClass(elem: ElemType): RegClass {
  return isNarrowFloat(elem) ? 'h' : TYPES[widen(elem)].reg;
}

/** The reference to the first of the neighbours. */
function firstOf(mem: MemRef, { lane }: Wide): MemRef {
  return { ...mem, disp: mem.disp - lane * ELEM_SIZE[mem.elem] };
}

/** One of neighbours that are loaded at once, by the first of them that is asked for. */
function loadWide(g: Gen, mem: MemRef, wide: Wide): Operand {
  const first = firstOf(mem, wide);
  const { space, text } = addressOf(g, first);
  const type = storedAs(mem.elem);
  const load = `ld.${space}${cached(g, mem)}`;
  const loaded = g.code.values(
    storedClass(mem.elem),
    `${load}.${type}`,
    wide.lanes,
    [text],
    stateOf(g, mem.array),
    (to) => {
      const together = `${load}.v${wide.lanes}.${type} {${to.join(', ')}}, ${text}`;
      if (wide.aligned) return g.code.emit(together);
      ifAligned(
        g,
        text,
        wide.lanes * ELEM_SIZE[mem.elem],
        together,
        to.map((r, k) => `${load}.${type} ${r}, ${beyond(text, k * ELEM_SIZE[mem.elem])}`),
      );
    },
  );
  const lane = loaded[wide.lane] ?? '';
  return isNarrowFloat(mem.elem) ? widenNarrow(g, mem.elem, lane) : lane;
}

/** One access where the address is a multiple of its bytes, else one for each. */
function ifAligned(g: Gen, text: Operand, bytes: number, together: string, apart: readonly string[]): void {
  const { code } = g;
  const [, start = text, disp] = /^\[([^+\]]+)(?:\+(-?\d+))?\]$/.exec(text) ?? [];
  const wide = start.startsWith('%rd');
  const at = disp === undefined ? start : code.value(wide ? 'rd' : 'r', wide ? 'add.s64' : 'add.s32', [start, disp]);
  const low = code.value(wide ? 'rd' : 'r', wide ? 'and.b64' : 'and.b32', [at, String(bytes - 1)]);
  const aligned = code.value('p', wide ? 'setp.eq.s64' : 'setp.eq.s32', [low, '0']);
  const [single, end] = [code.label(), code.label()];
  code.emit(`@!${aligned} bra ${single}`);
  code.emit(together);
  code.emit(`bra ${end}`);
  code.place(single);
  for (const line of apart) code.emit(line);
  code.place(end);
}

/** An address so many bytes further. */
function beyond(text: Operand, bytes: number): Operand {
  const [, start = text, disp = '0'] = /^\[([^+\]]+)(?:\+(-?\d+))?\]$/.exec(text) ?? [];
  return bytes === 0 ? text : `[${start}+${Number(disp) + bytes}]`;
}

/** Stores neighbours at once; false where that is not one access. None of the values may be read from memory. */
export function storeWide(g: Gen, stores: readonly (Stmt & { readonly op: 'store' })[]): boolean {
  const [first] = stores;
  const wide = first?.mem.wide;
  if (first === undefined || wide === undefined || !isWideAccess(g, first.mem)) return false;
  const { elem } = first.mem;
  const values = stores.map((s) => inRegister(g, widen(elem), storedValue(g, elem, g.value(s.value))));
  const { space, text } = addressOf(g, first.mem);
  const store = `st.${space}`;
  const type = storedAs(elem);
  const together = `${store}.v${wide.lanes}.${type} ${text}, {${values.join(', ')}}`;
  if (wide.aligned) g.code.emit(together);
  else
    ifAligned(
      g,
      text,
      wide.lanes * ELEM_SIZE[elem],
      together,
      values.map((v, k) => `${store}.${type} ${beyond(text, k * ELEM_SIZE[elem])}, ${v}`),
    );
  memoryChanged(g, first.mem.array);
  return true;
}

/**
 * An address as loads name it, and the space with its dot. Bytes of constant memory at a computed place are loaded by generic addresses:
 * the assembler in NVIDIA's driver (580.159, not the toolkit's ptxas) dies of `table[condition ? 1 : 0]` that is compared with 0.
 */
function loadable(g: Gen, { space, text }: Address, elem: ElemType): Address {
  const [, register, rest] = /^\[(%\w+)(.*)\]$/.exec(text) ?? [];
  if (space !== 'const' || register === undefined || ELEM_SIZE[elem] > 1) return { space: `.${space}`, text };
  return { space: '', text: `[${g.code.value('rd', 'cvta.const.u64', [register])}${rest}]` };
}

export function storeElement(g: Gen, mem: MemRef, e: Expr, chosen?: Chosen): void {
  const v = g.value(e);
  const { space, text } = addressOf(g, mem, chosen?.base);
  const hint = mem.cache !== undefined && space === 'global' ? `.${mem.cache}` : '';
  g.code.emit(`st.${space}${hint}.${storedAs(mem.elem)} ${text}, ${storedValue(g, mem.elem, v)}`);
  for (const array of chosen?.arrays ?? [mem.array]) memoryChanged(g, array);
}

function storedValue(g: Gen, elem: ElemType, v: Operand): Operand {
  if (isNarrowFloat(elem)) return toNarrow(g, elem, 'f32', inRegister(g, 'f32', v));
  switch (elem) {
    case 'bool':
      return g.code.value('r', 'selp.b32', ['1', '0', v]);
    case 'i8':
    case 'u8':
    case 'i16':
    case 'u16':
      return inRegister(g, 'i32', v);
    default:
      return v;
  }
}

/** An element was written: what was loaded from where it may be is no longer known. */
function memoryChanged(g: Gen, array: ArraySym): void {
  const state = stateOf(g, array);
  if (state !== undefined) g.code.changed(state);
  // Under an alias, what the kernel only reads may be what it has just written.
  if (array.space === 'global') g.code.changed('memory:global');
}
