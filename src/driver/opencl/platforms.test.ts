/** Finding the library and the devices: what is chosen, and what is said where there is nothing to choose. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { loadFfi } from '../../ffi/koffi.ts';
import { libraryNames, load, type OpenCL, prototypeOf } from './library.ts';
import { hasOpenCL, openTestDevice } from './opencl.testing.ts';
import { walkPlatforms } from './platforms.ts';
import { driverError } from './result.ts';

/** Devices of one platform: type (2 CPU, 4 GPU, 8 accelerator), name, vendor, version. */
type Model = Readonly<
  Record<string, readonly (readonly [type: number, name: string, vendor: string, version?: string])[]>
>;

/** A library that answers as so many platforms would. */
function modelOf(platforms: Model | number): OpenCL {
  const { ffi } = loadFfi();
  if (ffi === undefined) throw new Error('koffi is needed');
  const names = typeof platforms === 'number' ? [] : Object.keys(platforms);
  const view = (address: unknown, bytes: number): DataView => new DataView(ffi.view(Number(address), bytes));
  const text = (into: unknown, said: string): number => {
    (into as Uint8Array).set(Buffer.from(`${said}\0`));
    return 0;
  };
  const device = (id: unknown) =>
    (typeof platforms === 'number' ? [] : (platforms[names[Math.floor(Number(id) / 100)] ?? ''] ?? []))[
      Number(id) % 100
    ];
  return {
    ffi,
    clGetPlatformIDs(_n: unknown, ids: unknown, count: unknown) {
      if (typeof platforms === 'number') return platforms;
      names.forEach((_, k) => view(ids, 64).setBigUint64(8 * k, BigInt(k), true));
      view(count, 8).setUint32(0, names.length, true);
      return 0;
    },
    clGetPlatformInfo: (id: unknown, _which: unknown, _size: unknown, into: unknown) =>
      text(into, names[Number(id)] ?? ''),
    clGetDeviceIDs(id: unknown, _type: unknown, _n: unknown, ids: unknown, count: unknown) {
      const list = typeof platforms === 'number' ? [] : (platforms[names[Number(id)] ?? ''] ?? []);
      if (list.length === 0) return -1;
      list.forEach((_, k) => view(ids, 64).setBigUint64(8 * k, BigInt(100 * Number(id) + k), true));
      view(count, 8).setUint32(0, list.length, true);
      return 0;
    },
    clGetDeviceInfo(id: unknown, which: unknown, _size: unknown, into: unknown) {
      const [type = 0, name = '', vendor = '', version = 'OpenCL 1.2 model'] = device(id) ?? [];
      switch (which) {
        case 0x1000:
          view(into, 8).setBigUint64(0, BigInt(type), true);
          return 0;
        case 0x102b:
          return text(into, name);
        case 0x102c:
          return text(into, vendor);
        case 0x102f:
          return text(into, version);
        case 0x1027:
        case 0x1028:
          (into as Uint8Array)[0] = 1;
          return 0;
        default:
          return -30;
      }
    },
  } as unknown as OpenCL;
}

const names = (platforms: Model, wanted = ''): string[] =>
  walkPlatforms(modelOf(platforms), wanted).devices.map(({ name }) => name);

const MACHINE: Model = {
  'Portable Computing Language': [[2, 'pthread-cpu', 'AuthenticAMD']],
  'NVIDIA CUDA': [[4, 'NVIDIA H200', 'NVIDIA Corporation']],
  'AMD Accelerated Parallel Processing': [[4, 'gfx1100', 'Advanced Micro Devices, Inc.']],
  'Some FPGA': [[8, 'board', 'Somebody']],
  'Old one': [[4, 'relic', 'Somebody', 'OpenCL 1.1 old']],
};

describe('the devices of all platforms', () => {
  it('come in the order in which one would choose them, without those that are too old', () => {
    expect(names(MACHINE)).toEqual(['gfx1100', 'NVIDIA H200', 'board', 'pthread-cpu']);
  });

  it('are chosen by number or a part of a name', () => {
    expect(names(MACHINE, '1')).toEqual(['NVIDIA H200']);
    expect(names(MACHINE, 'portable')).toEqual(['pthread-cpu']);
    expect(names(MACHINE, ' 1 ')).toEqual(['NVIDIA H200']);
    expect(names(MACHINE, ' ')).toHaveLength(4);
    const { reason } = walkPlatforms(modelOf(MACHINE), 'radeon');
    expect(reason).toBe(
      'TSAMBA_OPENCL_DEVICE=radeon names no device; there are: 0 gfx1100, 1 NVIDIA H200, 2 board, 3 pthread-cpu',
    );
  });

  it('are none for a reason', () => {
    expect(walkPlatforms(modelOf(-1001)).reason).toMatch(
      /CL_PLATFORM_NOT_FOUND_KHR \(-1001\): .* no implementation is/,
    );
    const without = { 'AMD Accelerated Parallel Processing': [] };
    expect(walkPlatforms(modelOf(without)).reason).toMatch(
      /no platform has a device \(AMD Accelerated Parallel Processing: CL_DEVICE_NOT_FOUND \(-1\)\): run clinfo -l/,
    );
    expect(walkPlatforms(modelOf({ 'Portable Computing Language': [] })).reason).toMatch(/set POCL_CACHE_DIR/);
  });
});

describe('the library', () => {
  it('has a name on each platform, and another one by the environment', () => {
    expect(libraryNames('linux', undefined)).toEqual(['libOpenCL.so.1', 'libOpenCL.so']);
    expect(libraryNames('win32', undefined)).toEqual(['OpenCL.dll']);
    expect(libraryNames('darwin', '')[0]).toMatch(/OpenCL\.framework/);
    expect(libraryNames('linux', '/usr/lib/oclgrind/liboclgrind-rt.so')).toEqual([
      '/usr/lib/oclgrind/liboclgrind-rt.so',
    ]);
    expect(prototypeOf('clCreateKernel', 'p, host, p')).toBe(
      'uint64_t clCreateKernel(uint64_t a0, void * a1, uint64_t a2)',
    );
  });

  it('is missed with a reason', () => {
    expect(load(['libtsamba-nowhere.so']).reason).toMatch(/^no OpenCL loader is installed, .*libtsamba-nowhere/);
    vi.stubEnv('TSAMBA_OPENCL_LIBRARY', ' /nowhere.so ');
    expect(load(libraryNames()).reason).toMatch(/^TSAMBA_OPENCL_LIBRARY=\/nowhere\.so cannot be loaded \(.*\): name/);
    vi.unstubAllEnvs();
  });

  it('fails with names and advice', () => {
    const error = driverError(-54, 'clEnqueueNDRangeKernel', 'a device', { about: 'launching kernel k' });
    expect(error.code).toBe('E_LAUNCH_RESOURCES');
    expect(error.message).toMatch(
      /CL_INVALID_WORK_GROUP_SIZE \(-54\) on a device\n {2}launching kernel k\n {2}help: make the block smaller/,
    );
    expect(driverError(-4, 'clFinish', 'a device').code).toBe('E_OUT_OF_MEMORY');
    expect(driverError(-77, 'clFinish', 'a device').message).toBe('clFinish: OpenCL error (-77) on a device');
  });
});

describe('the cache of binaries', () => {
  it.skipIf(!hasOpenCL())('lets programs start from their binaries', { timeout: 30_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsamba-cache-'));
    try {
      const text = 'kernel void twice(global int *a) { a[get_global_id(0)] *= 2; }';
      for (const round of ['built', 'read']) {
        const device = openTestDevice({ cacheFolder: folder });
        const program = device.programs.build(text, '-cl-std=CL1.2', round);
        expect(device.programs.kernel(program, 'twice')).toBeGreaterThan(0);
        expect(device.programs.build(text, '-cl-std=CL1.2', round)).toBe(program);
        device.close();
        expect(readdirSync(folder)).toHaveLength(1);
      }
      // A whole file with a right digest, which is no program: built from its text again.
      const [file = ''] = readdirSync(folder);
      for (const data of [Buffer.alloc(0), Buffer.from('rubbish'), Buffer.alloc(5000, 'poclbin')]) {
        writeFileSync(join(folder, file), Buffer.concat([createHash('sha256').update(data).digest(), data]));
        const device = openTestDevice({ cacheFolder: folder });
        const program = device.programs.build(text, '-cl-std=CL1.2', 'damaged');
        expect(device.programs.kernel(program, 'twice')).toBeGreaterThan(0);
        expect(readFileSync(join(folder, file)).length).toBeGreaterThan(32 + data.length);
        // Other options are another program.
        device.programs.build(text, '-cl-std=CL1.2 -cl-opt-disable', 'plain');
        device.close();
      }
      expect(readdirSync(folder)).toHaveLength(2);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
