/**
 * IPC handles, with a driver that opens any handle: what a handle says, what is checked, and when an opening is closed. That processes
 * see the same bytes is for test/gpu.
 */

import { beforeEach, expect, it } from 'vitest';
import { BlockDriver } from '../../test/support/block-driver.ts';
import { deviceArray, openIpcArray, toDevice } from '../cuda/host.ts';
import type { DeviceInfo, Pointer } from '../driver/driver.ts';
import { f32, f64, i32, struct } from '../dtype/index.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import type { IpcArrayHandle } from './ipc-handle.ts';

class SharingDriver extends BlockDriver {
  override readonly info: DeviceInfo;
  readonly calls: string[] = [];

  constructor() {
    super();
    const { info } = new BlockDriver();
    this.info = { ...info, features: { ...info.features, ipc: true } };
  }

  override allocate(bytes: number, _stream?: unknown, shareable = false): Pointer {
    if (shareable) this.calls.push('allocate shareable');
    return super.allocate(bytes);
  }

  override share(): Uint8Array {
    return new Uint8Array(64).fill(7);
  }

  override openShared(): Pointer {
    this.calls.push('open');
    return super.allocate(4000);
  }

  override closeShared(): void {
    this.calls.push('close');
  }
}

let driver: SharingDriver;
let context: Context;

beforeEach(() => {
  driver = new SharingDriver();
  context = new Context(driver);
  const leave = cudaDevices.enter(context);
  return () => leave();
});

/** As another process would have made it. */
function fromElsewhere(handle: IpcArrayHandle): IpcArrayHandle {
  return JSON.parse(JSON.stringify({ ...handle, pid: handle.pid + 1 })) as IpcArrayHandle;
}

it('a handle is plain data, and says where a view lies in its allocation', () => {
  const d = deviceArray([10, 10], f32, { ipc: true });
  expect(driver.calls).toEqual(['allocate shareable']);
  const handle = d.slice('9:0:-3', 2).ipcHandle();
  expect(structuredClone(handle)).toEqual({
    type: 'tsamba.ipc',
    bytes: new Array(64).fill(7),
    size: 400,
    offset: 4 * 92,
    shape: [3],
    strides: [-120],
    dtype: '<f4',
    pid: process.pid,
  });
  const Point = struct({ x: f64, k: i32 });
  expect(deviceArray(2, Point, { ipc: true }).ipcHandle().descr).toEqual([
    ['x', '<f8'],
    ['k', '<i4'],
  ]);
});

it('only arrays that were made for it have one', () => {
  expect(() => toDevice(Float32Array.of(1)).ipcHandle()).toThrow(/\{ ipc: true \}/);
  expect(() => deviceArray([0, 2], f32, { ipc: true }).ipcHandle()).toThrow(/without elements/);
  const d = deviceArray(4, f32, { ipc: true });
  d.dispose();
  expect(() => d.ipcHandle()).toThrow(/disposed/);
});

it('arrays over one allocation share its opening, which the last of them closes', () => {
  const handle = fromElsewhere(deviceArray([10, 10], f32, { ipc: true }).slice('2:4').ipcHandle());
  driver.calls.length = 0;
  const before = context.memoryStats().live;
  const [a, b] = [openIpcArray(handle), openIpcArray(structuredClone(handle))];
  expect(driver.calls).toEqual(['open']);
  expect(context.memoryStats().live, 'it is counted by the process that allocated it').toBe(before);
  expect([a.shape, a.strides, a.dtype]).toEqual([[2, 10], [40, 4], f32]);
  expect(a.pointer - a.owner.address).toBe(80);
  a.set(5, 1, 2);
  expect(b.get(1, 2)).toBe(5);
  const part = b.slice(0);
  a.dispose();
  b.dispose();
  context.deallocations.clear();
  expect(driver.calls).toEqual(['open']);
  part.dispose();
  // Opened again before the queue was flushed: CUDA would not open it twice.
  const again = openIpcArray(handle);
  expect(driver.calls).toEqual(['open', 'close', 'open']);
  again.dispose();
  context.deallocations.clear();
  expect(driver.calls).toEqual(['open', 'close', 'open', 'close']);
});

it('handles of other libraries come with shape, dtype, strides and offset', () => {
  const bytes = new Uint8Array(64).fill(9);
  const d = openIpcArray(bytes, [2, 3], f64, { order: 'F', offset: 16 });
  expect([d.strides, d.pointer - d.owner.address]).toEqual([[8, 16], 16]);
  const e = openIpcArray([...bytes], 3, 'int32', { strides: [-4], offset: 8 });
  expect(e.get(2)).toBe(openIpcArray(bytes, 1, i32).get(0));
  expect(driver.calls).toEqual(['open']);
});

it('what cannot be opened is said', () => {
  const handle = deviceArray(4, f32, { ipc: true }).ipcHandle();
  const open = openIpcArray as (...args: unknown[]) => unknown;
  expect(() => open(handle)).toThrow(/this process made the handle/);
  expect(() => open(new Uint8Array(3), 4, f32)).toThrow(/64 bytes.*got 3 bytes/);
  expect(() => open('handle', 4, f32)).toThrow(/got a value of type string/);
  expect(() => open({ ...fromElsewhere(handle), shape: [5] })).toThrow(/span bytes 0 to 20 of memory that has 16/);
  expect(() => open(new Uint8Array(64), 4, f32, { strides: [-4] })).toThrow(/span bytes -12/);
  expect(() => open(new Uint8Array(64), 4, f32, { offest: 3 })).toThrow(/offest/);
  expect(() => open(fromElsewhere(handle), { order: 'C' })).toThrow(/order/);
});
