/**
 * The limits of the pending queue, from the environment.
 *
 * `TSAMBA_CUDA_MAX_PENDING_DEALLOCS_COUNT` (10) and `…_RATIO` (0.2 of the device's memory); Numba's names are honoured when
 * ours are unset. A value that cannot be read warns and the default holds, as in Numba.
 */
import { type Environment, variable } from '../environment.ts';
import { warn } from '../host/index.ts';

/** More than `maxCount` items, or more than `ratio` of the device's total memory, are not kept pending. */
export interface DeallocationLimits {
  readonly maxCount: number;
  readonly ratio: number;
}

/** Reads the limits from the environment. A value that is none becomes a warning and the default. */
export function deallocationLimits(env?: Environment): DeallocationLimits {
  return {
    maxCount: read(env, 'MAX_PENDING_DEALLOCS_COUNT', 10, Number.isSafeInteger, 'a whole number from 0'),
    ratio: read(env, 'MAX_PENDING_DEALLOCS_RATIO', 0.2, Number.isFinite, 'a number from 0'),
  };
}

function read(
  env: Environment | undefined,
  suffix: string,
  byDefault: number,
  accepts: (x: number) => boolean,
  wanted: string,
): number {
  for (const name of [`TSAMBA_CUDA_${suffix}`, `NUMBA_CUDA_${suffix}`]) {
    const text = variable(name, env)?.trim();
    if (text === undefined || text === '') continue;
    const value = Number(text);
    if (accepts(value) && value >= 0) return value;
    warn(`${name}=${text} is not ${wanted}; the default ${byDefault} is used`, {
      type: 'TsambaWarning',
      code: 'TSAMBA_BAD_ENV',
    });
    return byDefault;
  }
  return byDefault;
}
