/**
 * What kernels become on AMD GPUs, compiled by ROCm's compiler where it is installed. No GPU is needed.
 */
import { describe, expect, it } from 'vitest';
import { compileFor } from '../src/compiler/testing.ts';
import { cuda } from '../src/cuda/index.ts';
import { disassemble, resourcesOf } from '../src/driver/hip/assembly.ts';
import { compileWithClang, hasClang } from '../src/driver/hip/clang.testing.ts';
import { HIP_TARGET } from '../src/driver/hip/info.ts';
import { amdgcnCode, codeObjectOf } from '../src/driver/hip/offline.ts';
import { openclPipeline } from '../src/driver/opencl/compile.ts';
import { f32, type i32, type Mat, NotSupportedError, type u32, type Vec } from '../src/index.ts';
import { isRequired } from '../src/required.testing.ts';

const product = (A: Mat<f32>, B: Mat<f32>, C: Mat<f32>): void => {
  const sA = cuda.shared.array([16, 16], f32);
  const sB = cuda.shared.array([16, 16], f32);
  const [x, y] = cuda.grid(2);
  const [tx, ty] = [cuda.threadIdx.x, cuda.threadIdx.y];
  let sum = 0;
  for (let k = 0; k < A.shape[1]; k += 16) {
    sA[ty][tx] = A[y][k + tx];
    sB[ty][tx] = B[k + ty][x];
    cuda.syncThreads();
    for (let j = 0; j < 16; j++) sum += sA[ty][j] * sB[j][tx];
    cuda.syncThreads();
  }
  C[y][x] = sum;
};

const matrix = { data: new Float32Array(1024), shape: [32, 32] };
const { kernel } = compileFor(product, [matrix, matrix, matrix], {
  checked: false,
  contract: true,
  debug: false,
  defaultFloat: 'f32',
});

/** Whether ROCm's compiler is installed. Throws when it has to be there and is not. */
function hasCompiler(): boolean {
  try {
    codeObjectOf(kernel, 'gfx90a');
    return true;
  } catch (error) {
    if (!(error instanceof NotSupportedError)) throw error;
    if (isRequired('rocm')) throw error;
    return false;
  }
}

describe.runIf(hasCompiler())('AMD code', { timeout: 300_000 }, () => {
  it.each(['gfx906', 'gfx90a', 'gfx1030'])('of a tiled product for %s: tiles in LDS, barriers', (arch) => {
    expect(resourcesOf(codeObjectOf(kernel, arch))).toMatchObject({ sharedBytes: 2 * 16 * 16 * 4, localBytes: 0 });
    const text = amdgcnCode.show({ kernel }, arch);
    expect(text).toMatch(/^; gfx\w+: 2048 bytes of LDS, 0 bytes of private memory, \d+ vector registers/);
    if (text.includes('llvm-objdump')) return;
    expect(text).toContain('s_barrier');
    expect(text).toMatch(/ds_write2?_b32/);
    expect(text).toMatch(/ds_read2?_b(32|64|128)/);
    expect(text).toMatch(/v_(pk_)?fm[ac]/);
    expect(text).toContain('global_load_dword');
    expect(text).not.toMatch(/flat_|scratch_/);
  });
});

describe.runIf(hasClang())('AMD code of atomic operations', { timeout: 300_000 }, () => {
  const update = (a: Vec<i32>, b: Vec<u32>): void => {
    const i = cuda.grid(1);
    cuda.atomic.max(a, 0, i);
    cuda.atomic.min(a, 1, i);
    cuda.atomic.sub(a, 2, i);
    cuda.atomic.and(b, 0, i);
    cuda.atomic.or(b, 1, i);
    cuda.atomic.xor(b, 2, i);
  };
  const { kernel: updates } = compileFor(update, [new Int32Array(3), new Uint32Array(3)]);
  const instructions = (hostAtomics: boolean, arch: string): string => {
    const { text } = openclPipeline.compile(updates, HIP_TARGET, { name: 'k', hostAtomics });
    return disassemble(compileWithClang(text, arch), arch);
  };

  it.each(['gfx90a', 'gfx942', 'gfx1100'])('for %s: on memory of the host nothing but what PCIe carries', (arch) => {
    const carried = /global_atomic_(?!cmpswap|add|swap|inc|dec)\w+/;
    expect(instructions(false, arch)).toMatch(carried);
    expect(instructions(true, arch)).not.toMatch(carried);
    expect(instructions(true, arch)).toContain('global_atomic_cmpswap');
  });
});

describe.runIf(hasClang())('AMD code for parts of grids', { timeout: 300_000 }, () => {
  const walk = (a: Vec<i32>): void => {
    const i = cuda.grid(1);
    if (i % 1000 === 7) console.log(i, cuda.gridDim.y);
    a[i] = cuda.blockIdx.z;
  };
  const { kernel: walking } = compileFor(walk, [new Int32Array(3)], {
    checked: true,
    contract: true,
    debug: false,
    defaultFloat: 'f32',
  });

  it.each(['gfx90a', 'gfx1100'])(
    'for %s compiles with faults and prints, and does not ask the launch for its size',
    (arch) => {
      const { text, args } = openclPipeline.compile(walking, HIP_TARGET, { name: 'k', partial: true });
      expect(text.slice(text.indexOf('report('))).not.toContain('get_num_groups');
      const places = args.filter(({ kind }) => kind === 'firstBlock' || kind === 'blocks');
      expect(places.map((arg) => ('axis' in arg ? arg.axis : -1))).toEqual([0, 0, 1, 1, 2, 2]);
      expect(disassemble(compileWithClang(text, arch), arch)).toContain('s_endpgm');
    },
  );
});

const complex = (x: Vec<f32>, y: Vec<f32>): void => {
  const i = 2 * cuda.grid(1);
  const [a, b, c, d] = [x[i], x[i + 1], y[i], y[i + 1]];
  y[i] = a * c - b * d;
  y[i + 1] = a * d + b * c;
};
const arrays = [new Float32Array(64), new Float32Array(64)];

describe.runIf(hasCompiler())('AMD code of products and sums by ROCm', { timeout: 300_000 }, () => {
  it('has nothing but fused sums where they may be, though neighbours are packed', () => {
    const options = { checked: false, contract: true, debug: false, defaultFloat: 'f32' } as const;
    const code = amdgcnCode.show(compileFor(complex, arrays, options), 'gfx90a');
    if (code.includes('llvm-objdump')) return;
    expect(code).toMatch(/v_(pk_)?fm\w+_f32/);
    expect(code).not.toMatch(/v_(pk_)?(add|sub)_f32/);
  });
});

describe.runIf(hasClang())('AMD code of products and sums', { timeout: 300_000 }, () => {
  it.each([true, false])('with contraction %s: each sum takes one product in, or none', (contract) => {
    const options = { checked: false, contract, debug: false, defaultFloat: 'f32' } as const;
    const { text } = openclPipeline.compile(compileFor(complex, arrays, options).kernel, HIP_TARGET, { name: 'k' });
    for (const arch of ['gfx90a', 'gfx942']) {
      const code = disassemble(compileWithClang(text, arch), arch);
      if (code.includes('llvm-objdump')) return;
      const additions = /v_(pk_)?(add|sub)_f32/;
      if (contract) expect(code).not.toMatch(additions);
      else expect(code).toMatch(additions);
      expect(/v_(pk_)?fm\w+_f32/.test(code)).toBe(contract);
    }
  });
});

describe('AMD code', () => {
  it('is for architectures of AMD', () => {
    expect(() => amdgcnCode.show({ kernel }, 'sm_90')).toThrow("such as 'gfx90a' or 'gfx1030', got 'sm_90'");
  });
});
