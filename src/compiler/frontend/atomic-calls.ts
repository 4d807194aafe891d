/**
 * Calls of atomic operations on elements of arrays and members of records: updates, reads and writes, with order and scope.
 */
import { describeElement } from '../elements.ts';
import { spelled } from '../intrinsics.ts';
import { type AtomicOp, ELEM_SIZE, type ElemType, type MemoryOrder, type MemoryScope } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import type { TExpr } from '../types/tree.ts';
import { isPrivate, refuseLocalAtomic } from './array-choices.ts';
import { element, indexView } from './arrays.ts';
import { optionsOf } from './call-options.ts';
import { complex, complexValue } from './complex.ts';
import { fail } from './diagnostics.ts';
import type { Evaluation } from './evaluation.ts';
import { type Call, count, type Handler, number } from './intrinsic-call.ts';
import { fieldView, isRecord } from './record-fields.ts';
import { writable } from './stores.ts';
import { isMisaligned } from './unaligned.ts';
import { describeValue, readLocal, scalar, UNDEFINED, type Value, type View } from './values.ts';

const WORDS: readonly ElemType[] = ['i32', 'u32', 'i64', 'u64'];
const NUMBERS: readonly ElemType[] = [...WORDS, 'f16', 'bf16', 'f32', 'f64'];
/** What moves whole elements knows small ones too. */
const MOVED: readonly ElemType[] = ['i8', 'u8', 'i16', 'u16', ...NUMBERS];

interface AtomicRow {
  readonly types: readonly ElemType[];
  readonly operands: number;
  readonly orders: readonly MemoryOrder[];
}

const ANY_ORDER: readonly MemoryOrder[] = ['relaxed', 'acquire', 'release', 'acq_rel', 'seq_cst'];

function update(types: readonly ElemType[], operands = 1): AtomicRow {
  return { types, operands, orders: ANY_ORDER };
}

const ATOMICS: Readonly<Record<AtomicOp, AtomicRow>> = {
  add: update(NUMBERS),
  sub: update(NUMBERS),
  and: update(WORDS),
  or: update(WORDS),
  xor: update(WORDS),
  exch: update(MOVED),
  cas: update(MOVED, 2),
  inc: update(['u32', 'u64']),
  dec: update(['u32', 'u64']),
  max: update(NUMBERS),
  min: update(NUMBERS),
  nanMax: update(NUMBERS),
  nanMin: update(NUMBERS),
  load: { types: MOVED, operands: 0, orders: ['relaxed', 'acquire', 'seq_cst'] },
  store: { types: MOVED, operands: 1, orders: ['relaxed', 'release', 'seq_cst'] },
};

const SCOPES: readonly MemoryScope[] = ['block', 'device', 'system'];

/** What an atomic updates: `(a, i)`, `(A, [i, j])`, of records `(p[i], 'x')`, `(p.field('x'), i)`; `rest` are the operands behind, for messages. */
function atomicTarget(
  ctx: Evaluation,
  call: string,
  array: Extract<Value, { kind: 'view' }>,
  index: Value | undefined,
  rest: string,
  pos: Pos,
): View {
  if (isRecord(array) && index?.kind === 'host' && typeof index.value === 'string') {
    const found = fieldView(array.view, index.value, pos);
    if (found.axes.length === 0) return found;
    return fail('K334', pos, `${found.name} is an array of rank ${found.axes.length}`, {
      help: `${call}(${found.name}, ${found.axes.length === 1 ? 'i' : '[i, j]'}${rest})`,
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
          ? `${call}(p[i], 'x'${rest})`
          : axes.length > 1
            ? `${call}(${name}, [i, j]${rest})`
            : undefined,
      },
    );
  }
  let { view } = array;
  for (const i of indices) view = indexView(ctx, view, ctx.scalar(i, pos, 'an index'), pos);
  return view;
}

/** The element that a call names by its first two arguments, `(a, i)`; `rest` are its other arguments, for messages. */
export function elementOf(call: Call, rest: string): View {
  const { ctx, pos } = call;
  const name = spelled(call.name);
  const [array, index] = call.args;
  if (array?.kind === 'view') return atomicTarget(ctx, name, array, index, rest, pos);
  const what = array === undefined ? 'nothing' : describeValue(array);
  return fail('K334', pos, `${name} needs an array first, not ${what}`, { help: `${name}(array, index${rest})` });
}

interface Order {
  readonly order?: MemoryOrder | undefined;
  readonly scope?: MemoryScope | undefined;
}

const REST = ['', ', value', ', expected, value'] as const;

/** What to do about an element that may lie at any byte. */
function alignedInstead({ level, root, element: { elem } }: View): string {
  if (level > 0) return 'lay the struct out with struct({ … }, { align: true })';
  if (root.elem === elem) return 'pass a copy, which begins where elements do';
  return `make the view of an array of ${elem}, or promise where its bytes begin: cuda.assumeAligned(a, ${ELEM_SIZE[elem]}).view(${elem})`;
}

/** An atomic operation on the element that is named by the first two arguments. */
export function emitAtomic(call: Call, fn: AtomicOp, view: View, args: readonly TExpr[], how: Order = {}): Value {
  const { ctx, pos } = call;
  const name = spelled(call.name);
  const { elem, record, clamped } = view.element;
  if (isPrivate(view.root)) return refuseLocalAtomic(name, pos);
  const { types } = ATOMICS[fn];
  if (record !== undefined || clamped || !types.includes(elem)) {
    return fail('K335', pos, `${name} does not exist for ${describeElement(view.element)}`, {
      help: `it exists for ${types.join(', ')}`,
    });
  }
  const mem = writable(element(view, pos), pos);
  if (isMisaligned(mem)) {
    const bytes = ELEM_SIZE[elem];
    return fail(
      'K337',
      pos,
      `${view.name} may lie anywhere: ${name} of ${elem} needs an address that is a multiple of ${bytes} bytes`,
      {
        help: alignedInstead(view),
      },
    );
  }
  const result = call.discarded || fn === 'store' ? undefined : ctx.newLocal(`%${call.name}`, pos, true);
  ctx.emit({ k: 'atomic', fn, mem, args, result, ...how, pos });
  return result === undefined ? UNDEFINED : scalar(readLocal(result, pos));
}

function atomic(fn: AtomicOp): Handler {
  const { operands, orders } = ATOMICS[fn];
  return (call) => {
    count(call, 2 + operands, 3 + operands);
    const view = elementOf(call, REST[operands] ?? '');
    const given = optionsOf(call, 2 + operands, { order: orders, scope: SCOPES });
    const how = {
      order: given.order === 'relaxed' ? undefined : (given.order as MemoryOrder | undefined),
      scope: given.scope === 'device' ? undefined : (given.scope as MemoryScope | undefined),
    };
    if (view.element.record?.kind === 'c' && (fn === 'add' || fn === 'sub')) return byParts(call, fn, view, how);
    const args = Array.from({ length: operands }, (_, k) => number(call, 2 + k));
    return emitAtomic(call, fn, view, args, how);
  };
}

/** A sum of complex numbers: each part by itself, so that others may see one before the other. */
function byParts(call: Call, fn: AtomicOp, view: View, how: Order): Value {
  const { ctx, pos } = call;
  const { re, im } = complexValue(call.args[2] ?? UNDEFINED, pos);
  const held = [ctx.hold(re), ctx.hold(im)];
  const old = (['re', 'im'] as const).map((part, k) =>
    emitAtomic(call, fn, fieldView(view, part, pos), [held[k] ?? re], how),
  );
  const [first, second] = old;
  return first?.kind === 'scalar' && second?.kind === 'scalar' ? complex(first.expr, second.expr) : UNDEFINED;
}

/** Atomic operations by their names, under a prefix: `atomic.add`. */
export function atomicHandlers(prefix: string): Readonly<Record<string, Handler>> {
  return Object.fromEntries((Object.keys(ATOMICS) as AtomicOp[]).map((fn) => [`${prefix}.${fn}`, atomic(fn)]));
}
