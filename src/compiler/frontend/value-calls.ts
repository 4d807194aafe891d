/**
 * What the library's own device functions take values apart by, whatever these are: `value.parts(v)`, its numbers in a tuple, `value.like(v, parts)`, such a value of
 * other numbers, and `value.shared(n, v)`, a shared array of `n` elements for each of the numbers (or one of a dtype), of its own for each call that is inlined.
 *
 * `value.items(v)` gives the elements of an array whose length is known in a tuple, and nothing of what is not an array; `value.before(a, b)` orders numbers as
 * `TypedArray.prototype.sort` does; `value.threads()` is how many threads a block has at most.
 */
import { OPEN } from '../elements.ts';
import type { TExpr } from '../types/tree.ts';
import { compare, select } from './arithmetic.ts';
import { allocateView, elementType } from './arrays.ts';
import { fail } from './diagnostics.ts';
import { type Call, type Handler, number } from './intrinsic-call.ts';
import { kindOf } from './kinds.ts';
import { shapeOf } from './memory-calls.ts';
import { isSequence, itemOf, knownLength } from './sequences.ts';
import { describeValue, literal, mapScalars, scalar, UNDEFINED, type Value } from './values.ts';

function numbersIn(call: Call, v: Value | undefined): readonly TExpr[] {
  const numbers: TExpr[] = [];
  if (v !== undefined) {
    mapScalars(v, (e) => {
      numbers.push(e);
      return e;
    });
  }
  if (numbers.length > 0 && v?.kind !== 'view') return numbers;
  const what = v === undefined ? 'nothing' : describeValue(v);
  return fail('K221', call.pos, `expected a number or a struct of numbers, but this is ${what}`);
}

const parts: Handler = (call) => ({ kind: 'tuple', items: numbersIn(call, call.args[0]).map((e) => scalar(e)) });

const like: Handler = (call) => {
  const [v, given] = call.args;
  const rest = [...numbersIn(call, given)];
  numbersIn(call, v);
  return mapScalars(v as Value, (e) => rest.shift() ?? e);
};

const shared: Handler = (call) => {
  const shape = shapeOf(call);
  if (shape.some((n) => n < 1))
    fail('K332', call.pos, `${shape.join()} is not a valid number of bins`, { help: '1 or more' });
  const like = call.args[1];
  const elements =
    like?.kind === 'host' ? [elementType(like.value, call.name, call.pos)] : numbersIn(call, like).map(() => OPEN);
  const views = elements.map(
    (e): Value => ({ kind: 'view', view: allocateView(call.ctx, 'shared', shape, e, '%block', call.pos) }),
  );
  return { kind: 'tuple', items: views };
};

const items: Handler = ({ args: [v = UNDEFINED], ctx, pos }) => {
  if (!isSequence(v)) return UNDEFINED;
  const length = knownLength(v, pos);
  if (length === undefined || length < 1 || length > MOST_ITEMS)
    return fail(
      'K332',
      pos,
      `the items of a thread are 1 to ${MOST_ITEMS}, and their number must be known at compile time`,
      {
        help: 'pass [a, b], or an array made in the kernel: cuda.local.array(4, f32), cuda.block.load(x, start, 4)',
      },
    );
  if (v.kind === 'tuple') return { kind: 'tuple', items: v.items.map((item) => ctx.holdValue(item)) };
  const { view } = v;
  return { kind: 'tuple', items: Array.from({ length }, (_, k) => itemOf(ctx, view, literal(k, pos), pos)) };
};

/** -0 before 0, and NaN last. */
const before: Handler = (call) => {
  const { ctx, pos } = call;
  const [a, b] = [0, 1].map((k) => {
    const e = number(call, k);
    const given = kindOf(ctx, e) === 'boolean' ? select(e, literal(1, pos), literal(0, pos), pos) : e;
    return ctx.hold(given);
  }) as [TExpr, TExpr];
  const is = (fn: 'isNaN' | 'isNegative', e: TExpr): TExpr => ({ k: 'test', fn, a: e, pos });
  const not = (e: TExpr): TExpr => ({ k: 'not', a: e, pos });
  const logic = (fn: 'and' | 'or', ...all: readonly TExpr[]): TExpr =>
    all.reduce((x, y) => ({ k: 'logic', fn, a: x, b: y, pos }));
  const zeros = logic('and', compare('eq', a, b, pos), is('isNegative', a), not(is('isNegative', b)));
  const last = logic('and', is('isNaN', b), not(is('isNaN', a)));
  return scalar(ctx.hold(logic('or', compare('lt', a, b, pos), zeros, last)));
};

const threads: Handler = ({ ctx, pos }) => scalar(literal(ctx.options.maxThreads ?? MOST_THREADS, pos));

/** What a tuple may have. */
const MOST_ITEMS = 64;
const MOST_THREADS = 1024;

export const VALUE_HANDLERS: Readonly<Record<string, Handler>> = {
  'value.parts': parts,
  'value.like': like,
  'value.shared': shared,
  'value.items': items,
  'value.before': before,
  'value.threads': threads,
};
