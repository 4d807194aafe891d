/**
 * Faults at the end of the process: nobody knows of a fault on a device that works on its own until somebody asks.
 *
 * Contexts with launches that may report something (checked and debug kernels) and that nobody has synchronised with since
 * are asked once when the process exits. What went wrong is printed, and the exit code becomes 1.
 */
import type { DeviceDriver } from '../driver/driver.ts';
import { reportUnobserved } from '../driver/faults.ts';
import { DriverError } from '../errors.ts';

/** What is asked: a context. */
export interface Asked {
  readonly driver: DeviceDriver;
  readonly closed: boolean;
  /** Whether the streams that were created have work left. */
  busy(): boolean;
}

/** Milliseconds that the exit may take longer because of work that is still being done. */
const PATIENCE = 5000;

const asked = new Set<Asked>();
let listening = false;

/** Asks a context at exit, unless `forget` is called before. */
export function askAtExit(context: Asked): void {
  asked.add(context);
  if (listening) return;
  listening = true;
  process.on('exit', () => {
    const deadline = performance.now() + PATIENCE;
    for (const one of asked) ask(one, deadline);
  });
}

/** Somebody has synchronised with the context. */
export function forget(context: Asked): void {
  asked.delete(context);
}

function ask(context: Asked, deadline: number): void {
  asked.delete(context);
  if (context.closed) return;
  const { driver } = context;
  for (;;) {
    try {
      if (!wait(context, deadline)) return;
      driver.synchronize();
      return;
    } catch (error) {
      reportUnobserved(error);
      // A device that is broken for good says so each time it is asked.
      if (!(error instanceof DriverError) || error.api !== 'kernel') return;
    }
  }
}

/** Waits until the device has done its work, or the time is over: a kernel that never ends must not keep the process. */
function wait(context: Asked, deadline: number): boolean {
  const { driver } = context;
  const event = driver.createEvent(false);
  try {
    driver.recordEvent(event, undefined);
    const cell = new Int32Array(new SharedArrayBuffer(4));
    while (!driver.queryEvent(event) || context.busy()) {
      if (performance.now() > deadline) return false;
      Atomics.wait(cell, 0, 0, 1);
    }
    return true;
  } finally {
    driver.destroyEvent(event);
  }
}
