/**
 * Calls that make memory in a kernel (shared, local and constant arrays), and atomic updates of elements.
 */

import { f64, i64 } from '../../dtype/index.ts';
import { cStrides } from '../../layout/index.ts';
import { NDARRAY } from '../contract.ts';
import { describeElement, type Element, recordKey } from '../elements.ts';
import { spelled } from '../intrinsics.ts';
import { type AtomicOp, ELEM_SIZE, type ElemType } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Root } from '../types/tree.ts';
import { allocateView, capturedView, dynamicView, element, elementType, indexView } from './arrays.ts';
import { writable } from './assignments.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { type Call, count, type Handler, number } from './intrinsic-call.ts';
import { fieldView, isRecord } from './records.ts';
import { isMisaligned } from './unaligned.ts';
import { describeValue, isLiteral, readLocal, scalar, UNDEFINED, type Value, type View } from './values.ts';

// ---------------------------------------------------------------- memory spaces

export function shapeOf(call: Call): readonly number[] {
  const v = call.args[0];
  const dims = v?.kind === 'tuple' ? v.items : v === undefined ? [] : [v];
  return dims.map((d) => {
    if (d.kind !== 'scalar')
      return fail(
        'K332',
        call.pos,
        `the shape of ${spelled(call.name)} must be a number or a tuple of numbers, not ${describeValue(d)}`,
      );
    if (!isLiteral(d.expr) || typeof d.expr.value !== 'number') {
      return fail('K332', call.pos, `the shape of ${spelled(call.name)} must be known while compiling`, {
        help:
          call.name === 'shared.array'
            ? 'use a constant, or size 0 for dynamic shared memory sized by the launch (sharedBytes)'
            : 'use a constant',
      });
    }
    const n = d.expr.value;
    if (!Number.isInteger(n) || n < 0)
      return fail('K332', call.pos, `${n} is no length for ${spelled(call.name)}`, {
        help: 'lengths are positive integers',
      });
    return n;
  });
}

function dtypeOf(call: Call): Element {
  const v = call.args[1];
  if (v === undefined)
    return fail('K316', call.pos, `${spelled(call.name)} needs a shape and an element type`, {
      help: `${spelled(call.name)}(256, f32)`,
    });
  return elementType(v.kind === 'host' ? v.value : undefined, spelled(call.name), call.pos);
}

export const sharedArray: Handler = (call) => {
  count(call, 2);
  const { ctx, pos } = call;
  const shape = shapeOf(call);
  const element = dtypeOf(call);
  if (shape.length === 1 && shape[0] === 0) {
    const view = dynamicView(ctx, element, '%shared', pos);
    return { kind: 'view', view };
  }
  positive(call, shape);
  // One allocation for each place in the source, whoever inlines it.
  const key = `${ctx.nodeId(call.node)}:${shape.join('x')}:${element.record === undefined ? describeElement(element) : recordKey(element.record)}`;
  const known = ctx.sharedSites.get(key);
  const view = allocateView(ctx, 'shared', shape, element, '%shared', pos);
  if (known === undefined) {
    ctx.sharedSites.set(key, view.root);
    return { kind: 'view', view };
  }
  ctx.roots.pop();
  return { kind: 'view', view: { ...view, root: known, name: known.name } };
};

const localArray: Handler = (call) => {
  count(call, 2);
  const shape = shapeOf(call);
  const element = dtypeOf(call);
  positive(call, shape);
  const view = allocateView(call.ctx, 'local', shape, element, '%local', call.pos);
  const bytes = call.ctx.roots.reduce((sum, root) => sum + (root.space === 'local' ? bytesOf(root) : 0), 0);
  if (bytes > MAX_LOCAL_BYTES) {
    const all = bytes === bytesOf(view.root) ? '' : ` with the others (${bytes} in all)`;
    fail('K332', call.pos, `${bytesOf(view.root)} bytes${all} are more local memory than a thread can have`, {
      help: `at most ${MAX_LOCAL_BYTES} bytes: pass device memory with a part for each thread`,
    });
  }
  return { kind: 'view', view };
};

/** CUDA's limit for a thread (programming guide, technical specifications), kept on all devices. */
const MAX_LOCAL_BYTES = 512 * 1024;

function bytesOf(root: Root): number {
  return (root.length ?? 0) * ELEM_SIZE[root.elem];
}

function positive(call: Call, shape: readonly number[]): void {
  if (shape.some((n) => n <= 0)) {
    fail('K332', call.pos, `${spelled(call.name)} of shape [${shape.join(', ')}] has no elements`, {
      help: 'lengths are positive; shared.array(0, dtype) of rank 1 is dynamic',
    });
  }
}

const constArray: Handler = (call) => {
  count(call, 1);
  const v = call.args[0];
  if (v?.kind === 'view' && v.view.root.space === 'constant') return v;
  const nested = v?.kind === 'tuple' ? readNested(v, call.pos) : undefined;
  const view = nested && capturedView(call.ctx, hostArrayOf(nested), '%const', call.pos);
  if (view !== undefined) return { kind: 'view', view };
  return fail(
    'K333',
    call.pos,
    `cuda.const.arrayLike needs a host array captured from outside the kernel, not ${v === undefined ? 'nothing' : describeValue(v)}`,
    {
      help: 'define a typed array, an NDArray or nested arrays of numbers outside the kernel and name them here',
    },
  );
};

/** The numbers of nested JavaScript arrays, row by row. */
interface Nested {
  readonly shape: readonly number[];
  readonly values: readonly (number | bigint)[];
}

/** Nested arrays of numbers (or of bigints) that are known while compiling; undefined for all else. */
function readNested(v: Value, pos: Pos): Nested | undefined {
  if (v.kind === 'scalar') {
    if (!isLiteral(v.expr) || typeof v.expr.value === 'boolean') return undefined;
    return { shape: [], values: [v.expr.value] };
  }
  if (v.kind !== 'tuple') return undefined;
  const rows: Nested[] = [];
  for (const item of v.items) {
    const row = readNested(item, pos);
    if (row === undefined || typeof row.values[0] !== typeof (rows[0] ?? row).values[0]) return undefined;
    rows.push(row);
  }
  const shape = rows[0]?.shape ?? [];
  const other = rows.find((row) => String(row.shape) !== String(shape));
  if (other !== undefined) {
    fail('K333', pos, `cuda.const.arrayLike: rows have shapes [${shape.join(', ')}] and [${other.shape.join(', ')}]`, {
      help: 'nested arrays must be rectangular',
    });
  }
  return { shape: [rows.length, ...shape], values: rows.flatMap((row) => row.values) };
}

/** What `ndarray()` makes of nested arrays: plain numbers are f64, bigints i64. */
function hostArrayOf({ shape, values }: Nested): object {
  const isWide = typeof values[0] === 'bigint';
  const data = isWide ? BigInt64Array.from(values as bigint[]) : Float64Array.from(values as number[]);
  return { [NDARRAY]: true, data, dtype: isWide ? i64 : f64, shape, strides: cStrides(shape, 8), byteOffset: 0 };
}

// ---------------------------------------------------------------- atomics

const ATOMIC_TYPES: Readonly<Record<AtomicOp, readonly ElemType[]>> = {
  add: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
  sub: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
  and: ['i32', 'u32', 'i64', 'u64'],
  or: ['i32', 'u32', 'i64', 'u64'],
  xor: ['i32', 'u32', 'i64', 'u64'],
  exch: ['i32', 'u32', 'i64', 'u64'],
  cas: ['i32', 'u32', 'i64', 'u64'],
  inc: ['u32', 'u64'],
  dec: ['u32', 'u64'],
  max: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
  min: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
  nanMax: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
  nanMin: ['i32', 'u32', 'i64', 'u64', 'f32', 'f64'],
};

/** What an atomic updates: `(a, i)`, `(A, [i, j])`, of records `(p[i], 'x')`, `(p.field('x'), i)`. */
function atomicTarget(
  ctx: Evaluation,
  call: string,
  array: Extract<Value, { kind: 'view' }>,
  index: Value | undefined,
  pos: Pos,
): View {
  if (isRecord(array) && index?.kind === 'host' && typeof index.value === 'string') {
    const found = fieldView(array.view, index.value, pos);
    if (found.axes.length === 0) return found;
    return fail('K334', pos, `${found.name} is an array of rank ${found.axes.length}`, {
      help: `${call}(${found.name}, ${found.axes.length === 1 ? 'i' : '[i, j]'}, value)`,
    });
  }
  const indices = index?.kind === 'tuple' ? index.items : index === undefined ? [] : [index];
  if (isRecord(array) || indices.length !== array.view.axes.length) {
    const { name, axes } = array.view;
    const needs = isRecord(array) ? 'the name of a member' : `${axes.length} indices`;
    return fail(
      'K334',
      pos,
      `${call} needs ${needs} for ${name}, not ${isRecord(array) ? 'an index' : indices.length}`,
      {
        help: isRecord(array)
          ? `${call}(p[i], 'x', value)`
          : axes.length > 1
            ? `${call}(${name}, [i, j], value)`
            : undefined,
      },
    );
  }
  let { view } = array;
  for (const i of indices) view = indexView(ctx, view, ctx.scalar(i, pos, 'an index'), pos);
  return view;
}

function atomic(fn: AtomicOp): Handler {
  return (call) => {
    const { ctx, pos } = call;
    const operands = fn === 'cas' ? 2 : 1;
    count(call, 2 + operands);
    const [array, index] = call.args;
    if (array?.kind !== 'view') {
      return fail(
        'K334',
        pos,
        `${spelled(call.name)} needs an array first, not ${array === undefined ? 'nothing' : describeValue(array)}`,
        {
          help: `${spelled(call.name)}(array, index, value)`,
        },
      );
    }
    const view = atomicTarget(ctx, spelled(call.name), array, index, pos);
    const { elem, record } = view.element;
    if (view.root.space === 'local')
      return fail('K334', pos, 'local memory belongs to one thread: atomics have no use there', {
        help: 'read and write it plainly',
      });
    if (record !== undefined || !ATOMIC_TYPES[fn].includes(elem)) {
      return fail('K335', pos, `${spelled(call.name)} does not exist for ${describeElement(view.element)}`, {
        help: `it exists for ${ATOMIC_TYPES[fn].join(', ')}`,
      });
    }
    const mem = writable(element(view, pos), pos);
    if (isMisaligned(mem)) {
      return fail(
        'K337',
        pos,
        `${view.name} is not aligned: atomics need an address that is a multiple of ${ELEM_SIZE[elem]} bytes`,
        {
          help: 'lay the struct out with struct({ … }, { align: true })',
        },
      );
    }
    const args = Array.from({ length: operands }, (_, k) => number(call, 2 + k));
    const result = call.discarded ? undefined : ctx.newLocal(`%${call.name}`, pos, true);
    ctx.emit({ k: 'atomic', fn, mem, args, result, pos });
    return result === undefined ? UNDEFINED : scalar(readLocal(result, pos));
  };
}

/** Atomic operations by their names, under a prefix: `atomic.add`. */
export function atomicHandlers(prefix: string): Readonly<Record<string, Handler>> {
  return Object.fromEntries((Object.keys(ATOMIC_TYPES) as AtomicOp[]).map((fn) => [`${prefix}.${fn}`, atomic(fn)]));
}

export const MEMORY_HANDLERS: Readonly<Record<string, Handler>> = {
  'shared.array': sharedArray,
  'local.array': localArray,
  'const.arrayLike': constArray,
  ...atomicHandlers('atomic'),
};
