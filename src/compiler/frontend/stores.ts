/**
 * Stores to single elements of arrays: numbers, complex numbers, vectors, whole records.
 */
import type { Pos } from '../source.ts';
import type { TMem } from '../types/tree.ts';
import { markStored, storeToSite } from './array-choices.ts';
import { element, elementValue } from './arrays.ts';
import { complex, complexValue } from './complex.ts';
import type { Evaluation } from './evaluation.ts';
import { isStable } from './measures.ts';
import { assignWhole } from './records.ts';
import type { Value, View } from './values.ts';
import { vectorOfElement } from './vectors.ts';

/** Marks the memory as stored to; refuses read-only memory. */
export function writable(mem: TMem, pos: Pos): TMem {
  markStored(mem.root, pos);
  return mem;
}

/** Stores a number in both parts of a complex element; what it is computed from may stand there. */
export function storeComplex(ctx: Evaluation, parts: readonly TMem[], value: Value, pos: Pos): Value {
  const { re, im } = complexValue(value, pos);
  const held = [re, im].map((e) => (isStable(e) ? e : ctx.temp(e)));
  parts.forEach((mem, k) => {
    ctx.emit({ k: 'store', mem: writable(mem, pos), value: held[k] ?? re, pos });
  });
  return complex(held[0] ?? re, held[1] ?? im);
}

/** Stores a value to the element that a view without axes is: a number, a complex one, a vector, a record. */
export function storeValue(ctx: Evaluation, view: View, value: Value, pos: Pos): void {
  storeToSite(ctx.hints, view.root);
  markStored(view.root, pos);
  if (view.element.record?.kind === 'c') {
    const at = elementValue(view, pos);
    if (at.kind === 'complex' && at.re.k === 'load' && at.im.k === 'load')
      storeComplex(ctx, [at.re.mem, at.im.mem], value, pos);
  } else if (view.element.record !== undefined || vectorOfElement(view.element) !== undefined) {
    assignWhole(ctx, view, value, pos);
  } else ctx.emit({ k: 'store', mem: element(view, pos), value: ctx.scalar(value, pos), pos });
}
