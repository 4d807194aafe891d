/**
 * Kernels that a device cannot run: an error of the kernel, with its place and the device's name.
 */
import { describe, expect, it } from 'vitest';
import { OpenCLDriver } from '../driver/opencl/device.ts';
import { describeDevice } from '../driver/opencl/info.ts';
import { hasOpenCL } from '../driver/opencl/opencl.testing.ts';
import { probeOpenCL } from '../driver/opencl/platforms.ts';
import { cuda, type f64, KernelError, NotSupportedError, type Vec } from '../index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';

/** The OpenCL device of this machine as one that has no f64. */
function withoutDoubles(): Context {
  const { cl, devices } = probeOpenCL();
  const [first] = devices;
  if (cl === undefined || first === undefined) throw new Error('there is no OpenCL device');
  const device = describeDevice(cl, first, 0);
  return new Context(new OpenCLDriver(cl, { ...device, target: { ...device.target, fp64: false } }));
}

describe.runIf(hasOpenCL())('f64 on a device without it', () => {
  it('is an error of the kernel, before anything runs', () => {
    const context = withoutDoubles();
    const leave = cudaDevices.enter(context);
    try {
      const half = cuda.jit(
        (y: Vec<f64>) => {
          y[0] = 0.5;
        },
        { name: 'half' },
      );
      const y = cuda.toDevice(Float64Array.of(1));
      let thrown: unknown;
      try {
        half.launch({ grid: 1, block: 1 }, y);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(KernelError);
      const { code, message, summary, help, location, cause } = thrown as KernelError;
      expect(code).toBe('E_F64');
      expect(summary).toBe(
        `${context.info.name} cannot run this kernel: kernel half computes with f64, which this OpenCL device does not have (cl_khr_fp64)`,
      );
      expect(help).toBe('use f32, or another device');
      expect(location?.file).toMatch(/refused\.test\.ts$/);
      expect(message).toContain('refused.test.ts');
      expect(cause).toBeInstanceOf(NotSupportedError);
      expect([...y.copyToHost()]).toEqual([1]);
    } finally {
      leave();
      context.close();
    }
  });
});
