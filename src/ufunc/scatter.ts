/**
 * `ufunc.at`: updates of elements in place, each of which takes effect however often its index comes.
 */
import { intrinsic } from '../compiler/intrinsics.ts';
import { i32 } from '../dtype/index.ts';
import type { Jit } from '../kernel/jit.ts';
import type { Vec } from '../kernel/types.ts';
import { WORDS } from '../kernel/words.ts';
import type { Elementwise, LoopKernel } from './kernels.ts';

type Value = never;

const asIs = (value: Value): Value => value;

/** The bits of elements, by the names of their dtypes: what a compare and swap compares. All others have no such operation. */
const BITS: Readonly<Record<string, (value: Value) => Value>> = {
  i32: asIs,
  u32: asIs,
  i64: asIs,
  u64: asIs,
  f32: /* @__PURE__ */ intrinsic<(value: Value) => Value>('floatAsInt'),
  f64: /* @__PURE__ */ intrinsic<(value: Value) => Value>('doubleAsLong'),
};

/** The names of the dtypes whose elements can be updated. */
export const UPDATED: readonly string[] = Object.keys(BITS);

const load = /* @__PURE__ */ intrinsic<(a: Vec<Value>, i: number) => Value>('atomic.load');
const cas = /* @__PURE__ */ intrinsic<(a: Vec<Value>, i: number, old: Value, value: Value) => Value>('atomic.cas');

/** `a[indices[k]] = op(a[indices[k]], b[k])`; `isArray`: whether `b` is one, undefined where there is none. An index out of range is a fault. */
export function scatterOf(
  jit: Jit,
  { op, cast, name }: Pick<Elementwise, 'op' | 'cast' | 'name'>,
  dtype: string,
  isArray: boolean | undefined,
): LoopKernel {
  const bits = BITS[dtype] as (value: Value) => Value;
  const captures = { ...WORDS, i32, load, cas, op, cast, bits, unary: isArray === undefined, isArray };
  return jit(
    ({ grid, i32, load, cas, op, cast, bits, unary, isArray }: typeof captures) =>
      (a: Vec<Value>, indices: Vec<Value>, b: Value) => {
        const k = grid(1);
        if (k >= indices.length) return;
        let i = i32(indices[k] as Value) as number;
        if (i < 0) i += a.length;
        let seen = load(a, i);
        let old = seen;
        do {
          old = seen;
          const value = unary ? op(old) : op(old, isArray ? ((b as Vec<Value>)[k] as Value) : b);
          seen = cas(a, i, old, cast(value));
        } while (bits(seen) !== bits(old));
      },
    { captures, name, boundsCheck: true },
  ) as unknown as LoopKernel;
}
