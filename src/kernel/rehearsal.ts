/**
 * Kernels that nobody needs, launched on a device that does nothing: an engine compiles a function when it is first called, and that is most of
 * what the first kernel of a process costs. A driver has this run while it starts, which takes it long and no JavaScript.
 */
import { toDeviceOf } from '../array/device-create.ts';
import { intrinsic } from '../compiler/intrinsics.ts';
import type { DeviceDriver } from '../driver/driver.ts';
import { rehearsal } from '../driver/rehearsal.ts';
import { Context } from '../memory/context.ts';
import { synchronizeOf } from '../memory/device-functions.ts';
import { DeviceSelection } from '../memory/device-selection.ts';
import { observing } from '../profile/observing.ts';
import { jitOf } from './jit.ts';
import { isShownToTool } from './tool-hook.ts';

interface Values {
  [index: number]: number;
  readonly length: number;
}

const cuda = {
  grid: intrinsic<(ndim: number) => number>('grid'),
  gridSize: intrinsic<(ndim: number) => number>('gridSize'),
};
const gain = 0.5;

/** Has a bit of everything that kernels are made of. */
function sample(x: Values, y: Values, a: number, n: number): void {
  const first = cuda.grid(1);
  if (first >= y.length) return;
  for (let i = first; i < y.length; i += cuda.gridSize(1)) {
    let sum = 0;
    for (let k = 0; k < n; k++) {
      const v = x[(i + k) % x.length] as number;
      sum += v > 0 ? v * gain : Math.abs(v) / a;
    }
    y[i] = Math.sqrt(sum) + Math.max(y[i] as number, a) - 1;
  }
}

/** Short, as most first kernels are. */
function scaled(y: Values, a: number): void {
  const i = cuda.grid(1);
  if (i < y.length) y[i] = a * (y[i] as number) + gain;
}

const refuse = (): never => {
  throw new Error('a rehearsal has one device');
};

function rehearse(driver: DeviceDriver): void {
  // Who looks at kernels should see only the program's.
  if (observing.current !== undefined || isShownToTool()) return;
  const context = new Context(driver);
  const devices = new DeviceSelection({
    namespace: 'cuda',
    variable: '',
    readsWait: false,
    choose: refuse,
    numbered: refuse,
    numbers: '',
  });
  devices.enter(context);
  try {
    const toDevice = toDeviceOf(devices);
    const jit = jitOf(devices);
    const [x, y] = [toDevice(new Float32Array(256)), toDevice(new Float32Array(256))];
    const shape = { grid: 1, block: 256 };
    jit(scaled).launch(shape, y as never, 2);
    jit(sample).launch(shape, x as never, y as never, 2, 3);
    synchronizeOf(devices)();
    x.dispose();
    y.dispose();
  } finally {
    context.close();
  }
}

/** Devices whose drivers have kernels rehearsed while they start. */
export function rehearsed(devices: DeviceSelection): DeviceSelection {
  rehearsal.run = rehearse;
  return devices;
}
