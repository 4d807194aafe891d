/**
 * What the library's own device functions take values apart by, whatever these are: `value.parts(v)`, its numbers in a tuple, `value.like(v, parts)`, such a value of
 * other numbers, and `value.shared(n, v)`, a shared array of `n` elements for each of the numbers, of its own for each call that is inlined.
 */
import { OPEN } from '../elements.ts';
import type { TExpr } from '../types/tree.ts';
import { allocateView } from './arrays.ts';
import { fail } from './diagnostics.ts';
import type { Call, Handler } from './intrinsic-call.ts';
import { shapeOf } from './memory-calls.ts';
import { describeValue, mapScalars, scalar, type Value } from './values.ts';

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
  const views = numbersIn(call, call.args[1]).map(
    (): Value => ({ kind: 'view', view: allocateView(call.ctx, 'shared', shape, OPEN, '%block', call.pos) }),
  );
  return { kind: 'tuple', items: views };
};

export const VALUE_HANDLERS: Readonly<Record<string, Handler>> = {
  'value.parts': parts,
  'value.like': like,
  'value.shared': shared,
};
