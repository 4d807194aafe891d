/**
 * What kernels warn of, as warnings of the process, each with a code so that it can be silenced by name.
 */
import type { DeviceInfo } from '../driver/driver.ts';
import { warn } from '../host/index.ts';
import { warnsImplicitCopy, warnsLowOccupancy } from './options.ts';

const WARNING = 'TsambaWarning';

/** What has a name that is looked for when it is asked for: that of a kernel without one is in its author's file. */
export interface Named {
  readonly name: string;
}

/** A host array was passed as it is. Once a kernel. Numba: NumbaPerformanceWarning. */
export function warnImplicitCopy(kernel: Named, argument: string, namespace: string): void {
  if (!warnsImplicitCopy()) return;
  warn(
    `${argument} of ${kernel.name} is a host array, which every launch copies to the device and back. Copy it once: ` +
      `const d = ${namespace}.toDevice(a), launch with d, then d.copyToHost(); or say which way to copy: ${namespace}.In(a), ${namespace}.Out(a). ` +
      'TSAMBA_WARN_IMPLICIT_COPY=0 silences this',
    { type: WARNING, code: 'TSAMBA_IMPLICIT_COPY' },
  );
}

/** A grid of fewer blocks than a GPU has multiprocessors. Once a kernel. Numba: NumbaPerformanceWarning, "low occupancy". */
export function warnIdle(kernel: Named, blocks: number, { name, limits }: DeviceInfo): void {
  if (!warnsLowOccupancy()) return;
  warn(
    `${kernel.name} runs ${blocks} block${blocks === 1 ? '' : 's'} on ${name}, which has ${limits.multiprocessors} multiprocessors: ${limits.multiprocessors - blocks} of them stay idle. ` +
      'Launch more blocks, with fewer threads in each or less work for each thread. TSAMBA_WARN_LOW_OCCUPANCY=0 silences this',
    { type: WARNING, code: 'TSAMBA_LOW_OCCUPANCY' },
  );
}

/** A number argument whose type nothing in the kernel decides. Once an argument. */
export function warnDefaulted(kernel: string, argument: string, type: string): void {
  warn(
    `nothing in ${kernel} determines the type of the number ${argument}, which becomes ${type}: write f32(${argument}) or ` +
      `i32(${argument}) in the kernel, cuda.scalar(f32, …) at the launch, or set the option defaultFloat`,
    { type: WARNING, code: 'TSAMBA_DEFAULT_FLOAT' },
  );
}
