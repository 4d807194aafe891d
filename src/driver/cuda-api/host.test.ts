import { describe, expect, it } from 'vitest';
import type { HostMemory } from '../driver.ts';
import { CudaContext } from './context.ts';
import { CudaModel } from './cuda-model.testing.ts';
import { CudaHostMemory } from './host.ts';

let number = 2000;

function open(): { model: CudaModel; host: CudaHostMemory } {
  const model = new CudaModel();
  const context = new CudaContext(model.cuda, number++, 'Model GPU');
  return { model, host: new CudaHostMemory(context) };
}

function codeOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return 'nothing thrown';
}

describe('host memory that the driver allocates', () => {
  it('is seen by the host as bytes and by the device under a pointer', () => {
    const { host } = open();
    for (const kind of ['pinned', 'mapped', 'managed'] as const) {
      const memory = host.allocate(100, { kind });
      memory.bytes.fill(7);
      expect([memory.bytes.length, memory.pointer !== undefined]).toEqual([100, true]);
      host.free(memory);
      expect(codeOf(() => host.free(memory))).toBe('E_INVALID_HANDLE');
    }
  });

  it('is given back when it cannot be mapped', () => {
    const { model, host } = open();
    model.results.set('cuMemHostGetDevicePointer', 1);
    expect(codeOf(() => host.allocate(100, { kind: 'mapped' }))).toBe('E_DRIVER');
    expect(model.calls).toContain('cuMemFreeHost');
  });

  it('that is not to be had is no lack of device memory', () => {
    const { model, host } = open();
    model.results.set('cuMemHostAlloc', 2);
    expect(() => host.allocate(100, { kind: 'pinned' })).toThrow(
      /cannot allocate 100 bytes of pinned host memory: the machine/,
    );
    expect(codeOf(() => host.allocate(0, { kind: 'pinned' }))).toBe('E_INVALID_VALUE');
  });
});

describe('registered host memory', () => {
  it('is unregistered when the device cannot map it', () => {
    const { model, host } = open();
    model.results.set('cuMemHostGetDevicePointer', 1);
    expect(codeOf(() => host.register(new Uint8Array(256), true))).toBe('E_DRIVER');
    expect(model.calls).toContain('cuMemHostUnregister');
  });

  it('is refused twice in words that help', () => {
    const { model, host } = open();
    model.results.set('cuMemHostRegister', 712);
    expect(() => host.register(new Uint8Array(256), false)).toThrow(/help: a part of this memory is pinned already/);
  });

  it('is known by its address, also in part', () => {
    const { model, host } = open();
    const buffer = new Uint8Array(1000);
    const address = Number(model.ffi.address(buffer));
    const registered: HostMemory[] = [buffer.subarray(100, 300), buffer.subarray(300, 400)].map((bytes) =>
      host.register(bytes, false),
    );
    expect(host.isPinned(address + 100, 200)).toBe(true);
    expect(host.isPinned(address + 100, 201)).toBe(false);
    // The driver copies no range across a border of what is registered.
    expect(host.pieces(address, 1000)).toEqual([100, 200, 100, 600]);
    expect(host.pieces(address + 150, 100)).toEqual([100]);
    for (const memory of registered) host.unregister(memory);
    expect(host.pieces(address, 1000)).toEqual([1000]);
  });

  it('is unregistered when the device is closed', () => {
    const { model, host } = open();
    host.register(new Uint8Array(256), false);
    host.close();
    host.close();
    expect(model.calls.filter((name) => name === 'cuMemHostUnregister')).toHaveLength(1);
  });
});
