/**
 * Loads and stores. All memory is words of 32 bits: wider elements are two of them, narrower ones parts of one.
 *
 * A part of a word is stored by two atomic operations where other threads may store its other parts: one clears it, one sets it. Nobody else looks at these bits meanwhile, unless the
 * kernel races for them.
 */
import { ELEM_SIZE, type ElemType, type Expr, type MemRef, type Stmt } from '../../ir/ops.ts';
import { call, define, type Gen, isWide, type Memory, type Print } from './code.ts';
import { half } from './halves.ts';

/** Whether an element's place is counted in words. */
function byWords({ elem, scale, disp }: MemRef): boolean {
  return ELEM_SIZE[elem] >= 4 && scale % 4 === 0 && disp % 4 === 0;
}

export function memoryOf(g: Gen, { array }: MemRef): Memory {
  const memory = g.memories.get(array);
  if (memory === undefined) throw new Error(`internal error: ${array.name} has no memory`);
  return memory;
}

/** An index as a word that wraps. */
function indexOf(print: Print, e: Expr): string {
  if (e.op === 'const') return `${Number(BigInt.asUintN(32, BigInt(e.value)))}u`;
  if (isWide(e.type)) return `${print(e)}.x`;
  return e.type === 'u32' ? print(e) : `bitcast<u32>(${print(e)})`;
}

function sum(...parts: readonly (string | undefined)[]): string {
  const there = parts.filter((p): p is string => p !== undefined);
  return there.length === 1 ? (there[0] as string) : `(${there.join(' + ')})`;
}

function offset(n: number): string | undefined {
  return n === 0 ? undefined : `${n >>> 0}u`;
}

/** The number of an element's first word, as u32. */
export function wordOf(g: Gen, print: Print, mem: MemRef): string {
  if (!byWords(mem)) return `(${byteOf(g, print, mem)} >> 2u)`;
  const { base, words: length } = memoryOf(g, mem);
  const words = mem.scale / 4;
  if (base === undefined && mem.index.op === 'const') {
    const at = Number(BigInt.asUintN(32, BigInt(mem.index.value) * BigInt(words) + BigInt(mem.disp / 4)));
    // What lies outside is no constant of WGSL's; nobody comes here with it.
    return `${length === undefined ? at : Math.min(at, length - 1)}u`;
  }
  const index = indexOf(print, mem.index);
  return sum(base && `(${base} >> 2u)`, words === 1 ? index : `${index} * ${words}u`, offset(mem.disp / 4));
}

/** The same as an index of whichever type: where compilers of WGSL follow it they know its range, and need not check it. */
export function placeOf(g: Gen, print: Print, mem: MemRef): string {
  const { index, disp, scale } = mem;
  if (!byWords(mem) || index.type !== 'i32' || index.op === 'const' || memoryOf(g, mem).base !== undefined) {
    return wordOf(g, print, mem);
  }
  const at = scale === 4 ? print(index) : `${print(index)} * ${scale / 4}i`;
  return sum(at, disp === 0 ? undefined : `${(disp / 4) | 0}i`);
}

/** The number of an element's first byte. */
export function byteOf(g: Gen, print: Print, mem: MemRef): string {
  const { base } = memoryOf(g, mem);
  const index = indexOf(print, mem.index);
  return sum(base, mem.scale === 1 ? index : `${index} * ${mem.scale}u`, offset(mem.disp));
}

/** A word as it is loaded. */
export function wordIn({ name, atomic, lane }: Memory, at: string): string {
  if (lane !== undefined) return `${name}[${at}].${lane.name}`;
  return atomic ? `atomicLoad(&${name}[${at}])` : `${name}[${at}]`;
}

export function loadElement(g: Gen, print: Print, mem: MemRef): string {
  const memory = memoryOf(g, mem);
  const { elem } = mem;
  switch (elem) {
    case 'u32':
      return wordIn(memory, placeOf(g, print, mem));
    case 'i32':
    case 'f32':
      return `bitcast<${elem}>(${wordIn(memory, placeOf(g, print, mem))})`;
    case 'i64':
    case 'u64': {
      const text = `fn load64_${memory.name}(at: u32) -> vec2<u32> { return vec2<u32>(${wordIn(memory, 'at')}, ${wordIn(memory, 'at + 1u')}); }`;
      return call(define(g, `load64_${memory.name}`, text), wordOf(g, print, mem));
    }
    case 'f16':
      return half(g, 'half_value', call('bitcast<u32>', call(loadPart(g, memory, 'u16'), byteOf(g, print, mem))));
    default:
      return call(loadPart(g, memory, elem), byteOf(g, print, mem));
  }
}

/** Bits of an element that shares its word with others. */
export function partBits(elem: ElemType): 8 | 16 {
  return ELEM_SIZE[elem] === 1 ? 8 : 16;
}

function loadPart(g: Gen, memory: Memory, elem: ElemType): string {
  const name = `load_${elem}_${memory.name}`;
  const bits = partBits(elem);
  const word = `${wordIn(memory, 'at >> 2u')} >> ((at & 3u) * 8u)`;
  const signed = elem === 'i8' || elem === 'i16';
  const value = signed
    ? `bitcast<i32>((${word}) << ${32 - bits}u) >> ${32 - bits}u`
    : `i32((${word}) & ${2 ** bits - 1}u)`;
  return elem === 'bool'
    ? define(g, name, `fn ${name}(at: u32) -> bool { return ((${word}) & 255u) != 0u; }`)
    : define(g, name, `fn ${name}(at: u32) -> i32 { return ${value}; }`);
}

/** The statements that store a value. */
export function storeElement(g: Gen, print: Print, mem: MemRef, value: Expr): string {
  const memory = memoryOf(g, mem);
  const { elem } = mem;
  const x = print(value);
  switch (elem) {
    case 'u32':
      return storeWord(memory, placeOf(g, print, mem), x);
    case 'i32':
    case 'f32':
      return storeWord(memory, placeOf(g, print, mem), `bitcast<u32>(${x})`);
    case 'i64':
    case 'u64': {
      const name = `store64_${memory.name}`;
      const text = `fn ${name}(at: u32, value: vec2<u32>) { ${storeWord(memory, 'at', 'value.x')} ${storeWord(memory, 'at + 1u', 'value.y')} }`;
      return `${call(define(g, name, text), wordOf(g, print, mem), x)};`;
    }
    case 'f16':
      return `${call(storePart(g, memory, elem), byteOf(g, print, mem), half(g, 'half_bits', x))};`;
    default:
      return `${call(storePart(g, memory, elem), byteOf(g, print, mem), elem === 'bool' ? `u32(${x})` : `bitcast<u32>(${x})`)};`;
  }
}

/** The statement that stores to all arrays of vectors. */
export function storeVector(g: Gen, print: Print, stores: readonly (Stmt & { readonly op: 'store' })[]): string {
  const [{ mem }] = stores as readonly [Stmt & { readonly op: 'store' }];
  const words = stores.map(({ value }) => (value.type === 'u32' ? print(value) : `bitcast<u32>(${print(value)})`));
  return `${memoryOf(g, mem).name}[${placeOf(g, print, mem)}] = vec${words.length}<u32>(${words.join(', ')});`;
}

function storeWord({ name, atomic }: Memory, at: string, x: string): string {
  return atomic ? `atomicStore(&${name}[${at}], ${x});` : `${name}[${at}] = ${x};`;
}

function storePart(g: Gen, memory: Memory, elem: ElemType): string {
  const bits = partBits(elem);
  const name = `store${bits}_${memory.name}`;
  const word = `${memory.name}[at >> 2u]`;
  const start = `let shift = (at & 3u) * 8u; let mask = ${2 ** bits - 1}u << shift; let bits = (value << shift) & mask;`;
  const store = memory.atomic
    ? `atomicAnd(&${word}, ~mask | bits); atomicOr(&${word}, bits);`
    : `${word} = (${word} & ~mask) | bits;`;
  return define(g, name, `fn ${name}(at: u32, value: u32) { ${start} ${store} }`);
}
