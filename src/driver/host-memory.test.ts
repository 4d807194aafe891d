/**
 * Host memory on devices whose work runs in this process: mapped allocations are the device's own bytes, registered arrays have a copy
 * there that nobody can tell from the array itself.
 */
import { describe, expect, it } from 'vitest';
import { openCpu } from './cpu/index.ts';
import type { BlockingDriver, HostMemory } from './driver.ts';
import { simulatorProvider } from './simulator/index.ts';

const devices: [string, () => BlockingDriver][] = [
  ['the CPU device', () => openCpu({ threads: 1 })],
  ['the simulator', () => simulatorProvider.open(0)],
];

describe.each(devices)('host memory of %s', (_, open) => {
  const driver = open();
  const read = (pointer: HostMemory['pointer'], bytes: number): number[] => {
    const back = new Uint8Array(bytes);
    driver.copyToHost(back, pointer ?? 0);
    return [...back];
  };

  it('says what it can do', () => {
    expect(driver.info.features).toMatchObject({ mapsHostMemory: true, ipc: false, externalStreams: false });
  });

  it.each(['mapped', 'managed'] as const)('%s: one memory, fresh as zeros', (kind) => {
    const memory = driver.allocateHost(8, { kind });
    expect([...memory.bytes]).toEqual(new Array(8).fill(0));
    memory.bytes[3] = 7;
    expect(read(memory.pointer, 8)).toEqual([0, 0, 0, 7, 0, 0, 0, 0]);
    driver.copyToDevice(Number(memory.pointer) + 4, Uint8Array.of(1, 2));
    expect([...memory.bytes]).toEqual([0, 0, 0, 7, 1, 2, 0, 0]);
    const before = driver.memoryInfo().free;
    driver.freeHost({ ...memory, bytes: new Uint8Array() });
    expect(driver.memoryInfo().free).toBeGreaterThanOrEqual(before + 8);
  });

  it('pinned: bytes for copies only', () => {
    const memory = driver.allocateHost(8, { kind: 'pinned' });
    expect([memory.bytes.length, memory.pointer]).toEqual([8, undefined]);
    driver.freeHost(memory);
  });

  it('registered: every call sees what the host wrote, and shows the host what it wrote', () => {
    const buffer = new ArrayBuffer(32);
    const all = new Uint8Array(buffer);
    const host = all.subarray(8, 24);
    const { free } = driver.memoryInfo();
    const memory = driver.registerHost(host, true);
    const at = Number(memory.pointer);
    host.fill(5);
    expect(read(at + 2, 3)).toEqual([5, 5, 5]);
    driver.copyToDevice(at, Uint8Array.of(1, 2));
    expect([...host.subarray(0, 4)]).toEqual([1, 2, 5, 5]);
    host[2] = 9;
    driver.copyOnDevice(at + 8, at, 4);
    expect([...host.subarray(8, 13)]).toEqual([1, 2, 9, 5, 5]);
    const other = Number(driver.allocate(16));
    driver.copyOnDevice(other, at + 8, 4);
    expect(read(other, 4)).toEqual([1, 2, 9, 5]);
    driver.copyOnDevice(at + 12, other, 2);
    expect([...host.subarray(12, 14)]).toEqual([1, 2]);
    // Strided: what lies between the elements stays as the host has it.
    host.fill(0);
    driver.fillStrided({ target: { pointer: at + 1, strides: [4] }, shape: [3], pattern: Uint8Array.of(6) });
    expect([...host]).toEqual([0, 6, 0, 0, 0, 6, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0]);
    host[2] = 8;
    const three = { shape: [3], itemSize: 1 };
    const spread = { pointer: at, strides: [5] };
    const from = { bytes: Uint8Array.of(1, 2, 3), offset: 0, strides: [1] };
    driver.copyToDeviceStrided({ target: spread, source: from, ...three });
    expect([...host]).toEqual([1, 6, 8, 0, 0, 2, 0, 0, 0, 6, 3, 0, 0, 0, 0, 0]);
    driver.copyOnDeviceStrided({ target: { pointer: at + 14, strides: [-1] }, source: spread, ...three });
    expect([...host.subarray(11)]).toEqual([0, 3, 2, 1, 0]);
    const back = new Uint8Array(3);
    host[0] = 77;
    driver.copyToHostStrided({ target: { bytes: back, offset: 0, strides: [1] }, source: spread, ...three });
    expect([...back]).toEqual([77, 2, 3]);
    expect([all[7], all[24]]).toEqual([0, 0]);
    driver.unregisterHost(memory);
    driver.free(other);
    expect(driver.memoryInfo().free).toBe(free);
  });

  it('registered: an array whose buffer was transferred away is left alone', () => {
    const host = new Uint8Array(8).fill(3);
    const memory = driver.registerHost(host, true);
    expect(read(memory.pointer, 2)).toEqual([3, 3]);
    structuredClone(host.buffer, { transfer: [host.buffer] });
    expect(read(memory.pointer, 2)).toEqual([3, 3]);
    driver.copyToDevice(Number(memory.pointer), Uint8Array.of(1));
    driver.unregisterHost(memory);
  });
});
