/**
 * Functions of other languages beyond what the conformance suite runs: NVIDIA's own tools link what is rendered, the driver's linker is asked in its
 * words, NVRTC in its own, and ROCm's compiler takes HIP C++ with a kernel.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LinkItem } from '../src/compiler/intrinsics/external.ts';
import { hasPtxas } from '../src/compiler/render/ptx/assemble.testing.ts';
import { compileFor } from '../src/compiler/testing.ts';
import { CudaContext } from '../src/driver/cuda-api/context.ts';
import { CudaModel } from '../src/driver/cuda-api/cuda-model.testing.ts';
import { hasRocm } from '../src/driver/hip/amd.testing.ts';
import { codeObjectOf } from '../src/driver/hip/offline.ts';
import { ptxPipeline } from '../src/driver/nvidia/compile.ts';
import { Cubins } from '../src/driver/nvidia/cubins.ts';
import { compileCuda } from '../src/driver/nvidia/nvrtc.ts';
import { cString } from '../src/ffi/out-parameters.ts';
import { cuda, type f32, type f64, type i32, type Vec } from '../src/index.ts';
import { linkItems } from '../src/kernel/link.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tsamba-externals-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const CUDA = `extern "C" __device__ float scaled(const float *x, int n, bool twice) { return twice ? 2 * x[n] : x[n]; }
extern "C" __device__ void put(signed char *to, unsigned short v) { *to = v; }
extern "C" __device__ unsigned char low(long long v) { return v; }`;

const HIP = `__device__ float scaled(const float *x, int n, bool twice) { return twice ? 2 * x[n] : x[n]; }
__device__ void put(char *to, unsigned short v) { *to = v; }
__device__ unsigned char low(long v) { return v; }`;

const link = [{ cuda: CUDA }, { hip: HIP }];
const scaled = cuda.declareDevice('scaled', 'float32(float32*, int32, bool)', { link });
const put = cuda.declareDevice('put', 'void(int8*, uint16)', { link });
const low = cuda.declareDevice('low', 'uint8(int64)', { link });

/** Calls with memory of every space and results of every width. */
const kernel = (x: Vec<f32>, y: Vec<i32>): void => {
  const tile = cuda.shared.array(32, 'float32');
  const own = cuda.local.array(4, 'int8');
  const i = cuda.grid(1);
  tile[cuda.threadIdx.x] = x[i];
  cuda.syncThreads();
  put(own.slice('2:'), i);
  y[i] =
    Math.trunc(scaled(tile, 31 - cuda.threadIdx.x, i > 4) + scaled(x.slice([i, null]), 0, false)) + own[2] + low(7n);
};

const compiled = (): Parameters<typeof ptxPipeline.compile>[0] =>
  compileFor(kernel, [new Float32Array(64), new Int32Array(64)], {}).kernel;

function has(...command: readonly string[]): boolean {
  try {
    execFileSync(command[0] ?? '', command.slice(1), { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe.runIf(hasPtxas() && has('nvcc', '--version') && has('nvlink', '--version'))('NVIDIA’s tools', () => {
  it('link the PTX of a kernel with an object of nvcc', { timeout: 300_000 }, () => {
    const { text, entry } = ptxPipeline.compile(
      compiled(),
      { capability: 90, isa: [9, 0] },
      { name: 'k', aliased: false },
    );
    const file = (name: string): string => join(folder, name);
    writeFileSync(file('k.ptx'), text);
    writeFileSync(file('f.cu'), CUDA);
    execFileSync('ptxas', ['-c', '-arch=sm_90', '-o', file('k.o'), file('k.ptx')]);
    execFileSync('nvcc', ['-cubin', '-rdc=true', '-arch=sm_90', '-o', file('f.o'), file('f.cu')]);
    const said = execFileSync('nvlink', ['--arch=sm_90', '-o', file('k.cubin'), file('k.o'), file('f.o')], {
      stdio: 'pipe',
    });
    expect(String(said)).not.toMatch(/error|warning/);
    expect(text).toContain(`.entry ${entry}(`);
    expect(text).not.toMatch(/ld\.global\.nc/);
  });
});

describe('memory of a thread', () => {
  it('stays memory where a function of another language has its address', () => {
    const both = cuda.declareDevice('both', 'float64(float64*)', { link: [{ ptx: '.func both' }] });
    const { kernel } = compileFor(
      (y: Vec<f64>): void => {
        const pair = cuda.local.array(2, 'float64');
        pair[0] = cuda.threadIdx.x;
        pair[1] = 0.5;
        y[0] = both(pair);
      },
      [new Float64Array(1)],
      {},
    );
    const { text } = ptxPipeline.compile(kernel, { capability: 90, isa: [9, 0] }, { name: 'k', aliased: false });
    expect(text.match(/st\.local\.f64/g)).toHaveLength(2);
    expect(text).toMatch(/mov\.u64 (%rd\d+), local_pair_0;[\s\S]*cvta\.local\.u64 %rd\d+, \1;/);
  });
});

describe('the driver’s linker', () => {
  const TEXT = cString('.version 7.0');
  const items = (): readonly LinkItem[] =>
    linkItems('link', [
      { ptx: '.func f' },
      { cubin: Uint8Array.of(1, 2) },
      { fatbin: Uint8Array.of(3) },
      { object: Uint8Array.of(4) },
    ]);
  const setUp = (cached = true): { model: CudaModel; load: (link: readonly LinkItem[]) => number | undefined } => {
    if (!cached) vi.stubEnv('TSAMBA_CACHE', '0');
    const model = new CudaModel();
    const context = new CudaContext(model.cuda, 0, 'a device');
    const cubins = new Cubins(model.cuda, 90, cached ? folder : undefined);
    return { model, load: (linked) => cubins.load(context, { entry: 'k', link: linked }, TEXT) };
  };

  it('gets the kernel first, then each input with its type', () => {
    const { model, load } = setUp();
    expect(load(items())).toBeGreaterThan(0);
    expect(model.linkInputs).toEqual([
      [1, '.version 7.0\0'],
      [1, '.func f\0'],
      [0, '\u0001\u0002'],
      [2, '\u0003'],
      [3, '\u0004'],
    ]);
    expect(model.calls.at(-1)).toBe('cuModuleLoadDataEx');
  });

  it('is asked again when what is linked changes, and not before', () => {
    setUp().load(items());
    const again = setUp();
    again.load(items());
    expect(again.model.linkInputs).toEqual([]);
    again.load(linkItems('link', [{ ptx: '.func g' }]));
    expect(again.model.linkInputs).toHaveLength(2);
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('is asked where nothing is kept on disk', () => {
    const { model, load } = setUp(false);
    expect(load(items())).toBeGreaterThan(0);
    expect(model.linkInputs).toHaveLength(5);
  });

  it.each(['cuLinkCreate', 'cuLinkAddData', 'cuLinkComplete', 'cuModuleLoadDataEx'])(
    'says so where %s fails',
    (api) => {
      const { model, load } = setUp();
      model.results.set(api, 218);
      expect(() => load(items())).toThrow(
        new RegExp(`${api}: kernel k cannot be linked with a text of ptx, .* on a device`),
      );
      expect(readdirSync(folder)).toEqual([]);
    },
  );
});

describe.runIf(has('cc', '--version'))('NVRTC', () => {
  /** A stand-in: gives back what it was asked to compile, options first; refuses what says so. */
  const STAND_IN = `#include <stdlib.h>
#include <string.h>
static char text[4096]; static int bad;
int nvrtcCreateProgram(void **p, const char *s, const char *n, int k, void *a, void *b) { strcpy(text, s); bad = strstr(s, "bad") != 0; *p = text; return 0; }
int nvrtcCompileProgram(void *p, int n, const char **o) { if (bad) return 6; for (int i = 0; i < n; i++) { strcat(text, "|"); strcat(text, o[i]); } return 0; }
int nvrtcGetPTXSize(void *p, size_t *n) { *n = strlen(text) + 1; return 0; }
int nvrtcGetPTX(void *p, char *to) { strcpy(to, text); return 0; }
int nvrtcGetProgramLogSize(void *p, size_t *n) { *n = 20; return 0; }
int nvrtcGetProgramLog(void *p, char *to) { strcpy(to, "line 1: not C++"); return 0; }
int nvrtcDestroyProgram(void **p) { *p = 0; return 0; }`;

  it('compiles CUDA C++ for the device, and its log is the error', () => {
    mkdirSync(join(folder, 'include'));
    mkdirSync(join(folder, 'lib64'));
    writeFileSync(join(folder, 'nvrtc.c'), STAND_IN);
    execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', join(folder, 'lib64', 'libnvrtc.so'), join(folder, 'nvrtc.c')]);
    vi.stubEnv('CUDA_HOME', folder);
    const text = Buffer.from(compileCuda(Buffer.from('source'), 'f.cu', 90)).toString();
    expect(text).toBe(
      `source|--gpu-architecture=compute_90|--relocatable-device-code=true|--include-path=${folder}/include\0`,
    );
    expect(() => compileCuda(Buffer.from('bad'), 'f.cu', 90)).toThrow(
      'nvrtcCompileProgram: f.cu does not compile\n  line 1: not C++',
    );
  });
});

describe.runIf(has('cc', '--version'))('nvJitLink', () => {
  /** A stand-in: gives back what it was told, options first; refuses what says so. */
  const STAND_IN = `#include <stdio.h>
#include <string.h>
static char text[4096]; static int bad;
int nvJitLinkCreate(void **p, unsigned n, const char **o) { bad = 0; text[0] = 0; for (unsigned i = 0; i < n; i++) { strcat(text, o[i]); strcat(text, "|"); } *p = text; return 0; }
int nvJitLinkDestroy(void **p) { *p = 0; return 0; }
int nvJitLinkAddData(void *p, int type, const char *d, size_t n, const char *name) { sprintf(text + strlen(text), "%d %s %zu %.3s|", type, name, n, d); bad |= !strncmp(d, "bad", 3); return 0; }
int nvJitLinkComplete(void *p) { return bad ? 6 : 0; }
int nvJitLinkGetLinkedCubinSize(void *p, size_t *n) { *n = strlen(text); return 0; }
int nvJitLinkGetLinkedCubin(void *p, char *to) { memcpy(to, text, strlen(text)); return 0; }
int nvJitLinkGetErrorLogSize(void *p, size_t *n) { *n = 30; return 0; }
int nvJitLinkGetErrorLog(void *p, char *to) { strcpy(to, "undefined reference to f"); return 0; }`;

  it('links LTO-IR with all else, and its log is the error', () => {
    mkdirSync(join(folder, 'include'));
    mkdirSync(join(folder, 'lib64'));
    writeFileSync(join(folder, 'l.c'), STAND_IN);
    writeFileSync(join(folder, 'f.ltoir'), 'lto');
    const library = join(folder, 'lib64', 'libnvJitLink.so.13');
    execFileSync('cc', ['-shared', '-fPIC', '-w', '-o', library, join(folder, 'l.c')]);
    vi.stubEnv('CUDA_HOME', folder);
    vi.stubEnv('TSAMBA_CACHE', '0');
    const model = new CudaModel();
    const context = new CudaContext(model.cuda, 0, 'a device');
    const cubins = new Cubins(model.cuda, 90);
    const load = (code: string): unknown => {
      const link = linkItems('link', [
        join(folder, 'f.ltoir'),
        { ltoir: Buffer.from(code), name: 'g' },
        { object: Buffer.from('obj'), name: 'o' },
      ]);
      return cubins.load(context, { entry: 'k', lineInfo: true, link }, cString('ptx'));
    };
    expect(load('two')).toBeGreaterThan(0);
    expect(model.loaded.at(-1)).toBe(
      `-arch=sm_90|-lto|-lineinfo|2 k 4 ptx|3 ${folder}/f.ltoir 3 lto|3 g 3 two|5 o 3 obj|`,
    );
    expect(model.calls).not.toContain('cuLinkCreate');
    expect(() => load('bad')).toThrow(
      /nvJitLinkComplete: kernel k cannot be linked with .*\n {2}undefined reference to f/,
    );
  });
});

describe.runIf(hasRocm())('ROCm’s compiler', () => {
  it('takes HIP C++ with a kernel', { timeout: 300_000 }, () => {
    expect(codeObjectOf(compiled(), 'gfx90a').length).toBeGreaterThan(1000);
  });
});
