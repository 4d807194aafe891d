/**
 * `cuda.vload` and `cuda.vstore`: neighbours in an array of numbers, read and written as a vector.
 */
import { isDType, isVectorDType, type VectorToken } from '../../dtype/index.ts';
import { describeElement, MAX_ALIGN } from '../elements.ts';
import { spelled } from '../intrinsics.ts';
import { ELEM_SIZE } from '../ir/ops.ts';
import type { TExpr, TMem } from '../types/tree.ts';
import { addIndex, arith, compare } from './arithmetic.ts';
import { element, indexView } from './arrays.ts';
import { fail } from './diagnostics.ts';
import { type Call, count, type Handler, number } from './intrinsic-call.ts';
import { writable } from './stores.ts';
import { describeValue, isLiteral, literal, UNDEFINED, type View } from './values.ts';
import { isVector, storeLanes, vectorOf, wideLane } from './vectors.ts';

/** The places of the vector's lanes, from the index on that is the call's second argument. */
function neighbours(call: Call, type: VectorToken<unknown>): readonly TMem[] {
  const { ctx, pos } = call;
  const view = arrayOf(call, type);
  const index = ctx.hold(number(call, 1), '%index');
  alignedIndex(call, type, index);
  const lanes = type.fields.length;
  const stride = view.axes[0]?.stride;
  const size = ELEM_SIZE[view.element.elem];
  const touching = stride !== undefined && isLiteral(stride) && Number(stride.value) === 1 && view.unit === size;
  const first = indexView(ctx, view, index, pos);
  // Memory of the kernel's own begins where it wants; elsewhere the device looks.
  const own = (view.root.space === 'shared' || view.root.space === 'local') && view.root.length !== undefined;
  if (own) view.root.align = MAX_ALIGN;
  const known = own && view.offset === undefined && isMultiple(index, lanes) ? MAX_ALIGN : size;
  return type.fields.map((_, k) => {
    if (!touching) return element(indexView(ctx, view, addIndex(index, literal(k, pos), pos), pos), pos);
    const mem = element(first, pos);
    const checks = mem.checks.map((c, n) =>
      n < mem.checks.length - 1 ? c : { ...c, index: addIndex(c.index, literal(k, pos), pos) },
    );
    return { ...mem, disp: mem.disp + k * size, checks, wide: wideLane(k, lanes, size, known) };
  });
}

/** Whether an index is surely a multiple of `n`. */
function isMultiple(e: TExpr, n: number): boolean {
  switch (e.k) {
    case 'lit':
      return Number(e.value) % n === 0;
    case 'index':
      return isMultiple(e.a, n);
    case 'local':
      return e.local.is !== undefined && isMultiple(e.local.is, n);
    case 'arith':
      if (e.fn === 'mul') return isMultiple(e.a, n) || isMultiple(e.b, n);
      return (e.fn === 'add' || e.fn === 'sub') && isMultiple(e.a, n) && isMultiple(e.b, n);
    default:
      return false;
  }
}

/** The array of numbers that is the call's first argument. */
function arrayOf(call: Call, type: VectorToken<unknown>): View {
  const { pos } = call;
  const [array] = call.args;
  if (array?.kind !== 'view' || array.view.axes.length !== 1) {
    return fail(
      'K343',
      pos,
      `${spelled(call.name)} needs a 1-D array, not ${array === undefined ? 'nothing' : describeValue(array)}`,
      {
        help: 'of a matrix give a row: A[i]',
      },
    );
  }
  const { element: own, name } = array.view;
  if (own.clamped) {
    return fail('K343', pos, `${spelled(call.name)} does not exist for u8c, whose stores clamp`, {
      help: `view the array as bytes: ${name}.view(u8)`,
    });
  }
  if (own.record !== undefined || own.elem !== type.lane.name) {
    return fail('K343', pos, `${type.name} does not fit ${name}, whose elements are ${describeElement(own)}`, {
      help:
        own.record === undefined ? `give ${own.elem}x${type.fields.length}` : 'its elements are read by their index',
    });
  }
  return array.view;
}

/** In checked mode an index at which no vector begins is an error; else it is only slower. */
function alignedIndex(call: Call, type: VectorToken<unknown>, index: TExpr): void {
  const { ctx, pos } = call;
  const n = type.fields.length;
  if (!ctx.options.checked || n === 3 || isMultiple(index, n)) return;
  const rest = arith('rem', index, literal(n, pos), pos);
  const message = `${spelled(call.name)}: the index of a ${type.name} is not a multiple of ${n}`;
  ctx.emit({
    k: 'if',
    cond: compare('ne', rest, literal(0, pos), pos),
    then: [{ k: 'trap', message, pos }],
    else: [],
    pos,
  });
}

const vload: Handler = (call) => {
  count(call, 3);
  const given = call.args[2];
  const type = given?.kind === 'host' && isDType(given.value) && isVectorDType(given.value) ? given.value : undefined;
  if (type === undefined) {
    return fail('K343', call.pos, `${spelled(call.name)} needs a vector type as its third argument`, {
      help: 'cuda.vload(a, 4 * i, f32x4)',
    });
  }
  const lanes = neighbours(call, type).map((mem): TExpr => call.ctx.temp({ k: 'load', mem, pos: call.pos }));
  return vectorOf(type, lanes);
};

const vstore: Handler = (call) => {
  count(call, 3);
  const value = call.args[2];
  if (!isVector(value) || !isVectorDType(value.type)) {
    return fail(
      'K343',
      call.pos,
      `${spelled(call.name)} stores a vector, not ${value === undefined ? 'nothing' : describeValue(value)}`,
      {
        help: 'make one: f32x4(x, y, z, w)',
      },
    );
  }
  const places = neighbours(call, value.type).map((mem) => writable(mem, call.pos));
  storeLanes(call.ctx, value.type, places, value, call.pos);
  return UNDEFINED;
};

export const VECTOR_HANDLERS: Readonly<Record<string, Handler>> = { vload, vstore };
