import { describe, expect, it } from 'vitest';
import type { AsyncNativeFunction, Ffi, NativeLibrary } from '../../ffi/ffi.ts';
import { loadFfi } from '../../ffi/koffi.ts';
import { OutParameters } from '../../ffi/out-parameters.ts';
import { prototypeOf } from '../cuda-api/functions.ts';
import { bind, libraryNames, versionText } from './library.ts';

function ffi(): Ffi {
  const loaded = loadFfi();
  if (loaded.ffi === undefined) throw new Error(loaded.reason);
  return loaded.ffi;
}

/** A library whose functions all succeed and do nothing, apart from telling a version. */
function fake(version: number, lacking: readonly string[] = []): NativeLibrary & { readonly prototypes: string[] } {
  const prototypes: string[] = [];
  return {
    name: 'libfake.so',
    prototypes,
    function(prototype): AsyncNativeFunction | undefined {
      prototypes.push(prototype);
      if (lacking.some((name) => prototype.includes(`${name}(`))) return undefined;
      const run = (...args: unknown[]): number => {
        if (prototype.includes('cuDriverGetVersion')) {
          new Int32Array(ffi().view(args[0] as number, 4))[0] = version;
        }
        return 0;
      };
      return Object.assign(run, { later: async (...args: unknown[]) => run(...args) });
    },
  };
}

describe('the library of the CUDA driver', () => {
  it('declares prototypes that the FFI understands', () => {
    const library = fake(13000);
    bind(ffi(), library);
    const { library: libc } = ffi().load(['libc.so.6', 'libSystem.B.dylib', 'msvcrt.dll']);
    expect(library.prototypes.length).toBeGreaterThan(70);
    // No libc has these, so each is undefined; a prototype that cannot be parsed throws.
    for (const prototype of library.prototypes) expect(libc?.function(prototype), prototype).toBeUndefined();
  });

  it('passes pointers as integers and host memory as it is', () => {
    expect(prototypeOf('cuMemcpyHtoD_v2', 'p, host, size_t')).toBe(
      'int32_t cuMemcpyHtoD_v2(uint64_t a0, void * a1, size_t a2)',
    );
    expect(prototypeOf('cuCtxSynchronize', '')).toBe('int32_t cuCtxSynchronize()');
  });

  it('knows the names of each platform', () => {
    expect(libraryNames('win32')).toEqual(['nvcuda.dll']);
    expect(libraryNames('linux')[0]).toBe('libcuda.so.1');
    expect(libraryNames('linux')).toContain('/usr/lib/wsl/lib/libcuda.so.1');
    expect(libraryNames('darwin')).toEqual([]);
  });

  it('says which version is needed when the driver is too old', () => {
    expect(bind(ffi(), fake(10020)).reason).toBe(
      'the NVIDIA driver is too old: it knows CUDA 10.2, and 11.0 is needed; install driver 450 or newer',
    );
    expect(bind(ffi(), fake(11000, ['cuMemHostRegister_v2'])).reason).toMatch(/has no cuMemHostRegister_v2/);
  });

  it('does without functions that came later', () => {
    const bound = bind(ffi(), fake(11000, ['cuMemAllocAsync']));
    expect(bound.reason).toBeUndefined();
    expect(bound.cuda?.cuMemAllocAsync).toBeUndefined();
    expect(bound.cuda?.version).toBe(11000);
  });

  it('writes versions as people do', () => {
    expect([11000, 12080, 13010].map(versionText)).toEqual(['11.0', '12.8', '13.1']);
  });
});

describe('cells', () => {
  it('are read as integers, addresses and floats by the place that the driver writes to', () => {
    const out = new OutParameters(ffi());
    const view = new DataView(ffi().view(out.at(2), 8));
    view.setBigUint64(0, 0x7f12_3456_789an, true);
    expect(out.long(2)).toBe(0x7f12_3456_789a);
    view.setInt32(0, -5, true);
    expect(out.int(2)).toBe(-5);
    view.setFloat32(0, 1.5, true);
    expect(out.float(2)).toBe(1.5);
    out.set(2, 2n ** 64n - 1n);
    expect(view.getBigUint64(0, true)).toBe(2n ** 64n - 1n);
    expect(out.at(3) - out.at(2)).toBe(8);
  });
});
