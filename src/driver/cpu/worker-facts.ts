/**
 * What is known of worker threads where none may run: `worker-code.ts` is their program.
 */

/** How long threads look out for each other before they sleep: it takes longer to be woken than most short launches do. */
export const AWAKE_MS = 0.1;

/** Functions that modules may import and that workers have; the rest is only on the main thread. */
export const WORKER_MATH: ReadonlySet<string> = new Set([
  ...['exp', 'expm1', 'log', 'log2', 'log10', 'log1p', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'sinh'],
  ...['cosh', 'tanh', 'asinh', 'acosh', 'atanh', 'pow', 'hypot', 'cbrt', 'exp2', 'rsqrt'],
]);
