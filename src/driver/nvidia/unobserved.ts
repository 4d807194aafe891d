/**
 * What kernels have left when the process ends and nobody has synchronised with them: printed values and faults are still
 * shown, as on devices that work at once.
 */
import { reportUnobserved } from '../faults.ts';
import type { CudaContext } from './context.ts';
import type { LaunchRecords } from './records.ts';

interface Open {
  readonly context: CudaContext;
  readonly records: LaunchRecords;
}

const open = new Set<Open>();
let listening = false;

/** Looks at what is left on a device when the process ends. Waits for the device only if kernels that can fault or print ran. */
export function flushAtExit(device: Open): void {
  open.add(device);
  if (listening) return;
  listening = true;
  process.on('exit', flush);
}

/** The device has been closed. */
export function keepQuietAtExit(device: Open): void {
  open.delete(device);
}

function flush(): void {
  for (const { context, records } of open) {
    if (!records.pending || context.broken !== undefined) continue;
    try {
      context.enter('exit');
      context.check(context.cuda.cuCtxSynchronize(), 'cuCtxSynchronize');
      records.collect(undefined);
    } catch (error) {
      reportUnobserved(error);
    }
    for (const fault of records.log.drain()) reportUnobserved(fault);
  }
}
