/**
 * Bessel functions of any whole order, by recurrence from orders 0 and 1: functions of the kernel language.
 */
import { deviceFunction } from '../compiler/intrinsics.ts';
import { j0, j1, y0, y1 } from './math.ts';

type OfOrder = (n: number, x: number) => number;

/**
 * The Bessel function of the first kind, of order n: an integer, of either sign. libdevice's `jn`.
 *
 *     y[i] = cuda.jn(2, x[i]);
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.jn(0, y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // 1
 */
export const jn: OfOrder = /* @__PURE__ */ deviceFunction(
  ({ j0, j1 }) =>
    (n, x) => {
      const order = Math.abs(n);
      const size = Math.abs(x);
      const odd = (n & 1) !== 0 && n < 0 !== x < 0;
      if (order === 0) return j0(size);
      let value = j1(size);
      if (size > order) {
        // Upwards, which is stable as long as the order is less than x.
        let below = j0(size);
        for (let k = 1; k < order; k++) {
          const next = value * ((2 * k) / size) - below;
          below = value;
          value = next;
        }
      } else if (order > 1 && size < 2 ** -9) {
        // The first terms of the series.
        const half = size / 2;
        const square = half * half;
        value = 1 - (square / (order + 1)) * (1 - square / (2 * (order + 2)));
        for (let k = 1; k <= order; k++) value *= half / k;
      } else if (order > 1) {
        // Downwards from so far up that what is taken for 0 does not matter, and scaled by 1 = J0 + 2 (J2 + J4 + …).
        let sum = size * 0;
        let above = sum;
        let at = above + 1;
        value = above;
        const start = 2 * ((order + Math.floor(Math.sqrt(160 * order))) >> 1) + 10;
        for (let k = start; k > 0; k--) {
          const next = at * ((2 * k) / size) - above;
          above = at;
          at = next;
          if (k === order) value = above;
          if (Math.abs(at) > 1e10) {
            at *= 1e-10;
            above *= 1e-10;
            sum *= 1e-10;
            value *= 1e-10;
          }
          if ((k & 1) !== 0) sum += at;
        }
        value /= 2 * sum - at;
      }
      return odd ? -value : value;
    },
  { j0, j1 },
  'jn',
);

/**
 * The Bessel function of the second kind, of order n: an integer, of either sign. -Infinity at 0, NaN below. libdevice's `yn`.
 *
 *     y[i] = cuda.yn(3, x[i]);
 * @example
 * const y = Float64Array.of(0);
 * cuda.jit((y: Vec<f64>) => { y[0] = cuda.yn(0, y[0]!); }).launch({ grid: 1, block: 1 }, y);
 * console.log(y[0]); // -Infinity
 */
export const yn: OfOrder = /* @__PURE__ */ deviceFunction(
  ({ y0, y1 }) =>
    (n, x) => {
      const order = Math.abs(n);
      let below = y0(x);
      if (order === 0) return below;
      let value = y1(x);
      for (let k = 1; k < order && value > -Infinity; k++) {
        const next = value * ((2 * k) / x) - below;
        below = value;
        value = next;
      }
      return (n & 1) !== 0 && n < 0 ? -value : value;
    },
  { y0, y1 },
  'yn',
);
