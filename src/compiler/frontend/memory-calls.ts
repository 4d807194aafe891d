/**
 * Calls that make memory in a kernel: shared, local and constant arrays.
 */

import { f64, i64 } from '../../dtype/index.ts';
import { cStrides } from '../../layout/index.ts';
import { NDARRAY } from '../contract.ts';
import { describeElement, type Element, recordKey } from '../elements.ts';
import { spelled } from '../intrinsics.ts';
import { ELEM_SIZE } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { Root } from '../types/tree.ts';
import { allocateView, capturedView, dynamicView, elementType } from './arrays.ts';
import { optionsOf } from './call-options.ts';
import { fail } from './diagnostics.ts';
import { type Call, count, type Handler } from './intrinsic-call.ts';
import { describeValue, isLiteral, type Value } from './values.ts';

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
      return fail('K332', call.pos, `the shape of ${spelled(call.name)} must be known at compile time`, {
        help:
          call.name === 'shared.array'
            ? 'use a constant, or size 0 for dynamic shared memory sized by the launch (sharedBytes)'
            : 'use a constant',
      });
    }
    const n = d.expr.value;
    if (!Number.isInteger(n) || n < 0)
      return fail('K332', call.pos, `${n} is not a valid length for ${spelled(call.name)}`, {
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

/** What all devices align arrays to, if asked. */
const MOST_ALIGNED = 16;

/** The option `align`: bytes that the array starts at a multiple of. */
function alignOf(call: Call): number | undefined {
  const align = {
    is: (n: unknown) => typeof n === 'number' && n >= 1 && n <= MOST_ALIGNED && Number.isInteger(Math.log2(n)),
    help: `a power of two, up to ${MOST_ALIGNED}`,
  };
  return optionsOf(call, 2, { align }).align as number | undefined;
}

export const sharedArray: Handler = (call) => {
  count(call, 2, 3);
  const align = alignOf(call);
  const { ctx, pos } = call;
  const shape = shapeOf(call);
  const element = dtypeOf(call);
  if (shape.length === 1 && shape[0] === 0) {
    const view = dynamicView(ctx, element, '%shared', pos);
    return { kind: 'view', view };
  }
  positive(call, shape);
  // One allocation for each place in the source, whoever inlines it.
  const key = `${ctx.nodeId(call.node)}:${shape.join('x')}:${element.record === undefined ? describeElement(element) : recordKey(element.record)}:${align ?? ''}`;
  const known = ctx.sharedSites.get(key);
  const view = allocateView(ctx, 'shared', shape, element, '%shared', pos, align);
  if (known === undefined) {
    ctx.sharedSites.set(key, view.root);
    return { kind: 'view', view };
  }
  ctx.roots.pop();
  return { kind: 'view', view: { ...view, root: known, name: known.name } };
};

const localArray: Handler = (call) => {
  count(call, 2, 3);
  const shape = shapeOf(call);
  const element = dtypeOf(call);
  positive(call, shape);
  const view = allocateView(call.ctx, 'local', shape, element, '%local', call.pos, alignOf(call));
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

export const MEMORY_HANDLERS: Readonly<Record<string, Handler>> = {
  'shared.array': sharedArray,
  'local.array': localArray,
  'const.arrayLike': constArray,
};
