/**
 * `cuda.fuse`: evaluates expressions of whole arrays, and makes functions of them.
 */

import { nodeOf } from '../array/expression.ts';
import { hostFunction } from '../compiler/intrinsics.ts';
import { TsambaTypeError } from '../errors.ts';
import type { DeviceSelection } from '../memory/device-selection.ts';
import { show } from '../show.ts';
import { engineOf } from './engine.ts';
import type { Fuse } from './types.ts';

/** The function of a namespace. */
export function fuseOf(devices: DeviceSelection): Fuse {
  const engine = engineOf(devices);
  const checked = (value: unknown): object => {
    if (nodeOf(value) !== undefined) return value as object;
    throw new TsambaTypeError(
      'E_EXPRESSION',
      `fuse takes an expression of arrays on the device, such as a.add(b), got ${show(value)}`,
    );
  };
  const now = (value: unknown, options?: unknown): unknown => engine.evaluate(checked(value), options);
  const later = async (value: unknown, options?: unknown): Promise<unknown> =>
    engine.evaluateAsync(checked(value), options);
  return Object.assign(hostFunction(devices, 'fuse', now), {
    async: hostFunction(devices, 'fuse', later),
  }) as unknown as Fuse;
}
