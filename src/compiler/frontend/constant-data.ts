/**
 * The bytes of a constant array of numbers, in the type that inference has found for them.
 */
import { dataClassOf, SCALAR_TOKENS } from '../../dtype/index.ts';
import type { ElemType } from '../ir/ops.ts';
import { widen } from '../ir/ops.ts';
import type { Pos } from '../source.ts';
import { constant } from './convert.ts';

export function packValues(values: readonly (number | bigint | boolean)[], elem: ElemType, pos: Pos): Uint8Array {
  const data = new (dataClassOf(SCALAR_TOKENS[elem]))(values.length);
  values.forEach((value, k) => {
    const own = elem === 'bool' || typeof value !== 'boolean' ? value : Number(value);
    const folded = elem === 'bool' ? Number(own) : constant(own, widen(elem), pos);
    data[k] = typeof folded === 'object' && folded.op === 'const' ? (folded.value as never) : (folded as never);
  });
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}
