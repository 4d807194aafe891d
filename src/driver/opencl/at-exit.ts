/**
 * The end of the process, or of a worker thread, with an OpenCL device open: its queues are waited for, because an implementation
 * that runs on threads of the process crashes when they are torn down under it, and what kernels have left is still shown.
 * Work that does not end in time is not waited for.
 */
import { atExit, nodeModule } from '../../host/index.ts';
import { reportUnread } from '../faults.ts';
import type { OpenCLContext } from './context.ts';
import type { LaunchReports } from './launch-reports.ts';
import { pause } from './lock.ts';
import type { Queues } from './queues.ts';

/** Milliseconds that the end of the process waits for a device; longer where tearing it down under its work crashes the process. */
const PATIENCE = { gpu: 5000, cpu: 20_000, other: 5000 };

interface Open {
  readonly context: OpenCLContext;
  readonly queues: Queues;
  readonly reports: LaunchReports;
  close(): void;
}

const open = new Set<Open>();
let listening = false;

/** From now on the device's queues are waited for when the process ends. */
export function finishAtExit(device: Open): void {
  open.add(device);
  if (listening) return;
  listening = true;
  atExit(finish);
}

/** The device has been closed. */
export function keepQuietAtExit(device: Open): void {
  open.delete(device);
}

function finish(): void {
  const { isMainThread } = nodeModule('node:worker_threads');
  for (const device of [...open]) {
    const { context, queues, reports } = device;
    if (context.broken !== undefined) continue;
    try {
      if (ranDry(queues, PATIENCE[context.device.listed.hardware])) {
        reports.collect(undefined);
        if (!isMainThread) device.close();
      }
    } catch (error) {
      reportUnread(error);
    }
    for (const fault of reports.log.takeAll()) reportUnread(fault);
  }
}

/** Waits until all work is done; false when that takes too long. */
function ranDry(queues: Queues, patience: number): boolean {
  const until = performance.now() + patience;
  while (!queues.idle) {
    if (performance.now() > until) return false;
    pause(1);
  }
  queues.finishAll();
  return true;
}
