/**
 * Kernels written by hand, launched by plain calls of the OpenCL API on the queue and the buffers of the driver that they are measured
 * against: everything is prepared, so that a launch is one call.
 */
import type { OpenCLDriver } from '../../src/driver/opencl/device.ts';
import type { Handwritten } from './handwritten.ts';

/** What is compiled like Tsamba's own code: see `buildOptions` in the renderer. */
function optionsOf(driver: OpenCLDriver): string {
  return driver.device.target.correctlyRounded
    ? '-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt'
    : '-cl-std=CL1.2';
}

/** Calls of the API. */
export interface RawLaunch {
  enqueue(): void;
  /** What lets the device begin. */
  flush(): void;
}

/** Builds a kernel and sets its arguments: the arrays, then the rest. */
export function prepare(
  driver: OpenCLDriver,
  { text, shape, rest }: Handwritten,
  pointers: readonly number[],
  scale: number,
): RawLaunch {
  const { context, memory, programs, queues } = driver;
  const { cl } = context;
  const pragma = `#pragma OPENCL FP_CONTRACT ${driver.contractByDefault ? 'ON' : 'OFF'}\n`;
  const kernel = programs.kernel(programs.build(pragma + text, optionsOf(driver), 'by hand'), 'k');
  const words = new DataView(new ArrayBuffer(256));
  const address = Number(cl.ffi.address(words));
  const set = (index: number, bytes: number): void =>
    context.check(cl.clSetKernelArg(kernel, index, bytes, address), 'clSetKernelArg');
  pointers.forEach((pointer, i) => {
    const buffer = memory.find(pointer);
    if (buffer === undefined || buffer.start !== pointer) throw new Error('the array is no buffer of its own');
    words.setBigUint64(0, BigInt(buffer.handle), true);
    set(i, 8);
  });
  rest(scale).forEach(({ type, value }, i) => {
    if (type === 'int') words.setInt32(0, value, true);
    else words.setFloat32(0, value, true);
    set(pointers.length + i, 4);
  });
  const { grid, block } = shape(scale);
  grid.forEach((n, k) => {
    words.setBigUint64(64 + 8 * k, BigInt(n * (block[k] ?? 1)), true);
    words.setBigUint64(128 + 8 * k, BigInt(block[k] ?? 1), true);
  });
  const queue = queues.begin(queues.default);
  const { clEnqueueNDRangeKernel: enqueue, clFlush: flush } = cl;
  const kept = { words };
  return {
    enqueue(): void {
      // The sizes are in `kept`, which must outlive the launches.
      if (enqueue(queue, kernel, 2, 0, address + 64, address + 128, 0, 0, 0) !== 0 || kept.words.byteLength === 0) {
        throw new Error('clEnqueueNDRangeKernel failed');
      }
    },
    flush(): void {
      if (flush(queue) !== 0) throw new Error('clFlush failed');
    },
  };
}
