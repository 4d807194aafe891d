/**
 * What kernels have left when the process ends and nobody has synchronised with them: printed values and faults are still
 * shown, as on devices that work at once. A kernel that does not end in time is not waited for.
 *
 * When a worker thread ends, its memory, streams and kernels on the device are given back as well: the process, and with it the
 * context, goes on.
 */
import { atExit, nodeModule } from '../../host/index.ts';
import { reportUnread } from '../faults.ts';
import type { CudaContext } from './context.ts';
import type { LaunchReports } from './launch-reports.ts';
import { CUDA_ERROR_NOT_READY } from './result.ts';

/** Milliseconds that the end of the process waits for a device. */
const PATIENCE = 5000;
const EVENT_DISABLE_TIMING = 2;

interface Open {
  readonly context: CudaContext;
  readonly reports: LaunchReports;
  close(): void;
}

const open = new Set<Open>();
let listening = false;

/** Looks at what is left on a device when the process ends. Waits for the device only if kernels that can fault or print ran. */
export function flushAtExit(device: Open): void {
  open.add(device);
  if (listening) return;
  listening = true;
  atExit(flush);
}

/** The device has been closed. */
export function keepQuietAtExit(device: Open): void {
  open.delete(device);
}

function flush(): void {
  const { isMainThread } = nodeModule('node:worker_threads');
  for (const device of [...open]) {
    const { context, reports } = device;
    if (context.broken !== undefined || (isMainThread && !reports.pending)) continue;
    try {
      context.enter('exit');
      if (ranDry(context)) {
        reports.collect(undefined);
        if (!isMainThread) device.close();
      }
    } catch (error) {
      reportUnread(error);
    }
    for (const fault of reports.log.takeAll()) reportUnread(fault);
  }
}

/** Waits until the default stream, and with it all that it waits for, has run dry; false when that takes too long. */
function ranDry(context: CudaContext): boolean {
  const { cuda, out } = context;
  context.check(cuda.cuEventCreate(out.at(0), EVENT_DISABLE_TIMING), 'cuEventCreate');
  const event = out.long(0);
  context.check(cuda.cuEventRecord(event, 0), 'cuEventRecord');
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const until = performance.now() + PATIENCE;
  for (;;) {
    const result = cuda.cuEventQuery(event);
    if (result !== CUDA_ERROR_NOT_READY) {
      context.check(result, 'cuEventQuery');
      return true;
    }
    if (performance.now() > until) return false;
    Atomics.wait(pause, 0, 0, 1);
  }
}
