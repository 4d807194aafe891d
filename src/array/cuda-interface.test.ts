/**
 * The CUDA array interface where addresses are real: who is kept alive, which streams are waited for, and what is refused. What both
 * kinds of devices have in common is in the conformance suite.
 */

import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BlockDriver } from '../../test/support/block-driver.ts';
import { asCudaArray, stream as createStream, deviceArray, toDevice } from '../cuda/host.ts';
import type { DeviceInfo, StreamHandle } from '../driver/driver.ts';
import { bf16, f8e4m3, f8e5m2, f32, struct, u8 } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import { isCudaArray } from './cuda-interface.ts';
import { DeviceNDArray } from './device-array.ts';

setFlagsFromString('--expose-gc');
const collectNow = runInNewContext('gc') as () => void;

/** A device like a GPU: its addresses are everybody's, and other libraries have streams on it. */
class OpenDriver extends BlockDriver {
  override readonly info: DeviceInfo;
  readonly taken: bigint[] = [];
  readonly synchronized: StreamHandle[] = [];

  constructor() {
    super();
    const { info } = new BlockDriver();
    this.info = { ...info, features: { ...info.features, externalStreams: true } };
  }

  override createStream(): StreamHandle {
    return { ...super.createStream(), address: 4096n };
  }

  override builtinStream(which: 'legacy' | 'per-thread'): StreamHandle {
    return { ...super.builtinStream(which), address: which === 'legacy' ? 1n : 2n };
  }

  override externalStream(handle: bigint = 0n): StreamHandle {
    this.taken.push(handle);
    return { ...super.createStream(), address: handle };
  }

  override synchronizeStream(stream: StreamHandle): void {
    this.synchronized.push(stream);
    super.synchronizeStream(stream);
  }
}

let driver: OpenDriver;

beforeEach(() => {
  driver = new OpenDriver();
  const leave = cudaDevices.enter(new Context(driver));
  return () => leave();
});

afterEach(() => {
  delete process.env['NUMBA_CUDA_ARRAY_INTERFACE_SYNC'];
  delete process.env['TSAMBA_CUDA_ARRAY_INTERFACE_SYNC'];
});

const exporting = (array: { readonly __cuda_array_interface__: object }, more: object = {}) => ({
  __cuda_array_interface__: { ...array.__cuda_array_interface__, ...more },
});

describe('the array interface with real addresses', () => {
  it('exports the address of the first logical element', () => {
    const d = toDevice(Float32Array.of(1, 2, 3, 4));
    expect(d.__cuda_array_interface__.data).toEqual([d.pointer, false]);
    expect(d.slice('::-1').__cuda_array_interface__.data[0]).toBe(d.pointer + 12);
    expect(JSON.parse(JSON.stringify(d.__cuda_array_interface__))).toMatchObject({ typestr: '<f4', shape: [4] });
  });

  it('knows which bytes a reversed array has', () => {
    const reversed = asCudaArray(exporting(toDevice(Float32Array.of(1, 2, 3, 4)).slice('::-1')));
    const over = (shape: number, strides: number) =>
      new DeviceNDArray(shape, strides, f32, { gpuData: reversed.gpuData });
    expect(over(4, -4).copyToHost()).toEqual(Float32Array.of(4, 3, 2, 1));
    expect(() => over(5, -4)).toThrow('span bytes -4 to 16 of gpuData that has 16 bytes');
    expect(() => over(2, 4)).toThrow('span bytes 12 to 20 of gpuData that has 16 bytes');
    reversed.dispose();
  });

  it('takes no notice of what version 0 did not know', () => {
    const d = toDevice(Float32Array.of(1, 2));
    expect(asCudaArray(exporting(d, { version: 0, mask: d })).copyToHost()).toEqual(Float32Array.of(1, 2));
    expect(() => asCudaArray(exporting(d, { version: 1, mask: d }))).toThrow(/masked arrays are not supported/);
  });

  it('keeps the lender alive as long as a view is there, and no longer', async () => {
    const d = toDevice(Float32Array.of(1, 2, 3, 4));
    const gone: string[] = [];
    const registry = new FinalizationRegistry<string>((what) => gone.push(what));
    const collect = async (): Promise<void> => {
      for (let k = 0; k < 5; k++) {
        collectNow();
        await setImmediate();
      }
    };
    const view = (() => {
      const exporter = exporting(d);
      registry.register(exporter, 'lender');
      const all = asCudaArray(exporter);
      const part = all.slice('1:3');
      all.dispose();
      return part;
    })();
    await collect();
    expect(gone).toEqual([]);
    expect(view.get(0)).toBe(2);
    view.dispose();
    await collect();
    expect(gone).toEqual(['lender']);
    expect(driver.freed, 'memory that is not ours is not freed').toEqual([]);
  });

  it('writes to no memory that its lender calls read-only', () => {
    const d = toDevice(Float32Array.of(1, 2, 3, 4));
    const borrowed = asCudaArray(exporting(d, { data: [d.pointer, true] }));
    for (const array of [borrowed, borrowed.slice('1:'), borrowed.T, borrowed.view('u32' as never)]) {
      expect(array.readOnly).toBe(true);
      expect(() => array.set(0)).toThrow(/read-only/);
      expect(() => array.copyToDevice(array.copyToHost())).toThrow(/read-only/);
    }
    expect(borrowed.copyToHost()).toEqual(Float32Array.of(1, 2, 3, 4));
    expect(asCudaArray(exporting(d, { data: [d.pointer, false] })).readOnly).toBe(false);
    borrowed.dispose();
  });

  it('takes bigints, and structs that another library laid out', () => {
    const bytes = toDevice(Uint8Array.of(1, 0, 0, 0, 0, 0, 128, 63));
    const descr = [
      ['a', '|u1'],
      ['', '|V3'],
      ['x', '<f4'],
    ];
    const more = { data: [BigInt(bytes.pointer), false], shape: [1n], typestr: '|V8', descr, strides: null };
    const [array] = [asCudaArray(exporting(bytes, more))];
    expect(array.get(0)).toEqual({ a: 1, x: 1 });
    expect(array.dtype.fields?.map(({ offset }) => offset)).toEqual([0, 4]);
    const native = struct({ a: u8, x: f32 }, { align: true });
    deviceArray(1, native).copyToDevice(array);
  });

  it('calls bf16 and 8-bit floats as ml_dtypes and PyTorch do, in and out, in structs too', () => {
    const d = toDevice(Uint16Array.of(0x3fc0, 0xc000));
    const borrowed = asCudaArray(exporting(d, { typestr: '<V2' }));
    expect(borrowed.dtype).toBe(bf16);
    expect([borrowed.get(0), borrowed.get(1)]).toEqual([1.5, -2]);
    expect(borrowed.__cuda_array_interface__.typestr).toBe('<V2');
    for (const [typestr, dtype] of [
      ['<V1', f8e4m3],
      ['<f1', f8e5m2],
    ] as const) {
      const bytes = asCudaArray(exporting(d, { shape: [4], typestr, strides: null }));
      expect(bytes.dtype).toBe(dtype);
      expect(bytes.__cuda_array_interface__.typestr).toBe(typestr);
    }
    const pair = toDevice(Uint8Array.of(7, 0xc0, 0x3f));
    const descr = [
      ['t', '|u1'],
      ['w', '<V2'],
    ];
    const records = asCudaArray(exporting(pair, { shape: [1], typestr: '|V3', descr, strides: null }));
    expect(records.get(0)).toEqual({ t: 7, w: 1.5 });
    expect(records.__cuda_array_interface__.descr).toEqual(descr);
    // NumPy's opaque bytes.
    for (const typestr of ['|V2', '<V4', 'V2'])
      expect(() => asCudaArray(exporting(d, { typestr }))).toThrow(/have no fields/);
  });

  it('refuses what is no address', () => {
    const d = toDevice(Float32Array.of(1));
    for (const address of [0, -1, 1.5, null, 'x', 2n ** 60n, {}]) {
      expect(() => asCudaArray(exporting(d, { data: [address, false] }))).toThrow(
        /must be the address of the first element/,
      );
    }
    expect(asCudaArray(exporting(d, { shape: [0], data: [12345, false] })).pointer).toBe(0);
  });

  it('waits for the lender’s stream, which becomes the array’s own', () => {
    const d = toDevice(Float32Array.of(1));
    const a = asCudaArray(exporting(d, { stream: 777 }));
    expect(driver.taken).toEqual([777n]);
    expect(driver.synchronized.map(({ address }) => address)).toEqual([777n]);
    expect(a.stream?.pointer).toBe(777n);
    expect(a.__cuda_array_interface__.stream).toBe(777);
    asCudaArray(exporting(d, { stream: 778n }), { sync: false });
    expect(driver.taken).toEqual([777n, 778n]);
    expect(driver.synchronized.length).toBe(1);
    for (const known of [1, 2])
      expect(asCudaArray(exporting(d, { stream: known })).stream?.pointer).toBe(BigInt(known));
    expect(asCudaArray(exporting(d, { stream: 5, version: 2 })).stream, 'version 2 had no streams').toBe(undefined);
    expect(asCudaArray(exporting(d, { stream: null })).stream).toBe(undefined);
    expect(deviceArray(2, f32, { stream: createStream() }).__cuda_array_interface__.stream).toBe(4096);
  });

  it.each(['TSAMBA_CUDA_ARRAY_INTERFACE_SYNC', 'NUMBA_CUDA_ARRAY_INTERFACE_SYNC'])(
    '%s=0 leaves out the waiting',
    (name) => {
      process.env[name] = '0';
      const a = asCudaArray(exporting(toDevice(Float32Array.of(1)), { stream: 777 }));
      expect(driver.synchronized).toEqual([]);
      expect(a.stream?.pointer).toBe(777n);
    },
  );

  it('waits once for each array that a copy takes', () => {
    const d = toDevice(Float32Array.of(1, 2));
    const target = deviceArray(2, f32);
    target.copyToDevice(exporting(d, { stream: 9 }));
    expect(driver.synchronized.length).toBe(1);
    expect([target.get(0), target.get(1)]).toEqual([1, 2]);
    expect(isCudaArray(target)).toBe(true);
  });
});
