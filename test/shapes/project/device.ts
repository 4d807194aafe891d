/** Device functions and constants of the shape matrix, in a file of their own so that kernels capture imports. */

export const WEIGHTS: Float32Array = new Float32Array([0.25, 0.5, 0.125]);

export function clamp(v: number, low: number, high: number): number {
  if (v < low) return low;
  // biome-ignore lint/complexity/useMathMinMax: a second return, with a ternary
  return v > high ? high : v;
}

export const lerp = (a: number, b: number, t: number): number => a + (b - a) * t;

/** A device function that calls others, one of them nested in it. */
export function shade(v: number): number {
  const half = (x: number): number => x * 0.5;
  return lerp(half(v), clamp(v, 0, 1), 0.25);
}
