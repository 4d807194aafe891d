/**
 * Where everything that a kernel names in memory stands: parameters in the launch buffer, arrays in their spaces.
 */
import type { ArraySym, Kernel } from '../../ir/ops.ts';
import { ELEM_SIZE } from '../../ir/ops.ts';
import { plainName } from '../names.ts';
import type { PtxParam } from './module.ts';

/** What PTX allows a module in static shared memory and in constant memory. */
const MAX_STATIC_SHARED = 48 * 1024;
const MAX_CONSTANT = 64 * 1024;

export const DYNAMIC = 'shared_memory';

/** Where an array starts: a symbol, and bytes beyond it. */
export interface Storage {
  readonly space: 'global' | 'shared' | 'local' | 'const';
  readonly symbol: string;
  readonly offset: number;
}

export interface Layout {
  readonly params: readonly PtxParam[];
  readonly paramBytes: number;
  /** All arrays but those that a parameter points to. */
  readonly storage: ReadonlyMap<ArraySym, Storage>;
  /** Declarations of the module, and of the entry. */
  readonly declarations: readonly string[];
  readonly locals: readonly string[];
  readonly extraSharedBytes: number;
}

function align(offset: number, to: number): number {
  return Math.ceil(offset / to) * to;
}

export function layOut(kernel: Kernel, extraParams: number): Layout {
  const params: PtxParam[] = [];
  let end = 0;
  for (const { type } of kernel.params) {
    const size = type === 'ptr' ? 8 : ELEM_SIZE[type];
    const offset = align(end, size);
    params.push({ type, offset, size });
    end = offset + size;
  }
  const storage = new Map<ArraySym, Storage>();
  const declarations: string[] = [];
  const locals: string[] = [];
  const extraSharedBytes = layOutShared(kernel, storage, declarations);
  layOutConstants(kernel, storage, declarations);
  for (const array of kernel.arrays) {
    if (array.space !== 'local') continue;
    const symbol = `local_${plainName(array.name)}_${array.id}`;
    locals.push(`.local .align ${alignment(array)} .b8 ${symbol}[${bytesOf(array)}];`);
    storage.set(array, { space: 'local', symbol, offset: 0 });
  }
  const paramBytes = extraParams > 0 ? align(end, 4) + 4 * extraParams : end;
  return { params, paramBytes, storage, declarations, locals, extraSharedBytes };
}

function alignment(array: ArraySym): number {
  return Math.max(array.align, ELEM_SIZE[array.elem]);
}

function bytesOf(array: ArraySym): number {
  return Math.max((array.length ?? 0) * ELEM_SIZE[array.elem], 1);
}

/** Returns the bytes of static arrays that have to be dynamic because PTX allows no more static ones. */
function layOutShared(kernel: Kernel, storage: Map<ArraySym, Storage>, declarations: string[]): number {
  const shared = kernel.arrays.filter((a) => a.space === 'shared');
  const fixed = shared.filter((a) => !a.dynamic);
  const total = fixed.reduce((sum, a) => align(sum, alignment(a)) + bytesOf(a), 0);
  const moved = total > MAX_STATIC_SHARED;
  let end = 0;
  for (const alike of moved ? [] : inGroups(fixed)) {
    const [first] = alike;
    if (first === undefined) continue;
    const symbol = `shared_${plainName(first.name)}_${first.id}`;
    const step = align(bytesOf(first), Math.max(alignment(first), 16));
    const bytes = step * (alike.length - 1) + bytesOf(first);
    declarations.push(`.shared .align ${Math.max(alignment(first), 16)} .b8 ${symbol}[${bytes}];`);
    alike.forEach((array, k) => {
      storage.set(array, { space: 'shared', symbol, offset: k * step });
    });
  }
  for (const array of fixed) {
    if (moved) {
      end = align(end, alignment(array));
      storage.set(array, { space: 'shared', symbol: DYNAMIC, offset: end });
      end += bytesOf(array);
    }
  }
  const extra = align(end, 16);
  if (moved || fixed.length < shared.length) declarations.push(`.extern .shared .align 16 .b8 ${DYNAMIC}[];`);
  for (const array of shared)
    if (array.dynamic) storage.set(array, { space: 'shared', symbol: DYNAMIC, offset: extra });
  return extra;
}

/**
 * Arrays of the same size and type stand in one symbol: as a rule they are indexed alike, coordinates each in an array of its own, and then one register
 * has the address in all of them.
 */
function inGroups(arrays: readonly ArraySym[]): readonly (readonly ArraySym[])[] {
  const groups = new Map<string, ArraySym[]>();
  for (const array of arrays) {
    const key = `${array.elem} ${bytesOf(array)} ${alignment(array)}`;
    if (!groups.get(key)?.push(array)) groups.set(key, [array]);
  }
  return [...groups.values()];
}

function layOutConstants(kernel: Kernel, storage: Map<ArraySym, Storage>, declarations: string[]): void {
  let used = 0;
  for (const array of kernel.arrays) {
    if (array.space !== 'constant') continue;
    const bytes = array.data ?? new Uint8Array();
    const fits = align(used, 16) + bytes.length <= MAX_CONSTANT;
    if (fits) used = align(used, 16) + bytes.length;
    const symbol = `constant_${plainName(array.name)}_${array.id}`;
    const space = fits ? 'const' : 'global';
    const initial = bytes.length > 0 ? ` = {${[...bytes].join(',')}}` : '';
    declarations.push(`.${space} .align ${Math.max(alignment(array), 16)} .b8 ${symbol}[${bytesOf(array)}]${initial};`);
    storage.set(array, { space, symbol, offset: 0 });
  }
}
