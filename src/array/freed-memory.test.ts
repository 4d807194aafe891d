/** Memory that was given back is reached by nothing that was made while it was there. */
import { describe, expect, it } from 'vitest';
import { freshCpuDevice } from '../../test/support/with-device.ts';
import { cuda, DeviceNDArray, f32, type Vec } from '../index.ts';

freshCpuDevice();

const disposed = expect.objectContaining({ code: 'E_DISPOSED' });

describe('memory that was given back', () => {
  it('is not taken by its interface', () => {
    const d = cuda.toDevice(Float32Array.of(1, 2, 3));
    const borrowed = { __cuda_array_interface__: d.__cuda_array_interface__ };
    expect(cuda.asCudaArray(borrowed).get(0)).toBe(1);
    d.dispose();
    const other = cuda.deviceArray(3, f32);
    const write = cuda.jit((x: Vec<f32>) => {
      x[0] = 9;
    });
    for (const use of [
      () => cuda.asCudaArray(borrowed),
      () => cuda.toDevice(borrowed),
      () => cuda.deviceArrayLike(borrowed as never),
      () => other.copyToDevice(borrowed),
      () => other.set(borrowed),
      () => write.launch({ threads: 1 }, borrowed as never),
    ]) {
      expect(use).toThrow(disposed);
    }
  });

  it('is not taken by its address', () => {
    const d = cuda.toDevice(Float32Array.of(1, 2, 3));
    const gpuData = d.gpuData;
    const view = new DeviceNDArray([2], null, f32, { gpuData });
    d.dispose();
    expect(view.get(1)).toBe(2);
    expect(new DeviceNDArray([2], null, f32, { gpuData }).get(0)).toBe(1);
    const last = cuda.deviceArray(4, f32);
    const memory = last.gpuData;
    last.dispose();
    expect(() => new DeviceNDArray([4], null, f32, { gpuData: memory })).toThrow(disposed);
    expect(() => last.toDlpack()).toThrow(disposed);
  });

  it('is no larger than it was, whatever is written to what describes it', () => {
    const d = cuda.toDevice(Float32Array.of(1, 2, 3, 4));
    const described = d.__cuda_array_interface__;
    const larger = { __cuda_array_interface__: { ...described, shape: [100] } };
    expect(() => cuda.asCudaArray(larger)).toThrow(expect.objectContaining({ code: 'E_BOUNDS' }));
    expect(() => cuda.deviceArray(100, f32).copyToDevice(larger)).toThrow(
      expect.objectContaining({ code: 'E_BOUNDS' }),
    );
    expect(() => Object.assign(d.owner, { bytes: 1e6 })).toThrow(TypeError);
    const { gpuData } = d;
    expect(() => new DeviceNDArray([100], null, f32, { gpuData })).toThrow(
      expect.objectContaining({ code: 'E_BOUNDS' }),
    );
    const off = { ...gpuData, address: Number.NaN } as never;
    expect(() => new DeviceNDArray([1], null, f32, { gpuData: off })).toThrow(/gpuData must be/);
  });
});
