/**
 * A toy library for geometry and saturation, as somebody else would write it: intrinsics with instructions of some devices, a type of its own, and
 * functions that mean on the host what their overloads mean in kernels. In a package of its own it imports `tsamba`.
 */
import { defineIntrinsic, f32, overload, type StructDType, struct } from '../../src/index.ts';

/** The median of three. */
export const median: (a: number, b: number, c: number) => number = defineIntrinsic({
  name: 'toy.median',
  types: ['f32', 'i32'],
  expand: (a: number, b: number, c: number): number => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c)),
  native: {
    ptx: (type) =>
      type === 'i32'
        ? 'max.s32 $0, $1, $2; min.s32 $0, $0, $3; { .reg .s32 t; min.s32 t, $1, $2; max.s32 $0, $0, t; }'
        : undefined,
    opencl: (type) => (type === 'i32' ? 'max(min($1, $2), min(max($1, $2), $3))' : undefined),
  },
});

/** a + b, which stays at the ends of the type. */
export const addSaturating: (a: number, b: number) => number = defineIntrinsic({
  name: 'toy.addSaturating',
  types: ['i32'],
  expand: (a: number, b: number): number => {
    const sum = (a + b) | 0;
    // The type's own sum wraps: then it has the sign that neither has.
    if (a > 0 && b > 0 && sum < 0) return 2147483647;
    return a < 0 && b < 0 && sum >= 0 ? -2147483648 : sum;
  },
  native: { opencl: () => 'add_sat', ptx: () => 'add.sat.s32' },
});

/** A point of the plane; on the host a plain object. */
export const point: StructDType<Point> = struct({ x: f32, y: f32 });
export interface Point {
  x: number;
  y: number;
}

/** The length of a number or of a point, on the host. */
export function length(v: number | Point): number {
  return typeof v === 'number' ? Math.abs(v) : Reflect.apply(Math.hypot, undefined, [v.x, v.y]);
}
overload(length, (v: number) => Math.abs(v), { when: ['number'] });
overload(length, (v: Point) => Math.sqrt(v.x * v.x + v.y * v.y), { when: [point] });

/** Only the host knows how: kernels have another way. */
export const clamp: (v: number, low: number, high: number) => number = new Function(
  'v',
  'low',
  'high',
  'return [low, v, high].sort((a, b) => a - b)[1]',
) as (v: number, low: number, high: number) => number;
overload(clamp, (v: number, low: number, high: number) => Math.min(Math.max(v, low), high));
