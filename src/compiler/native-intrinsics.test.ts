/**
 * Where an intrinsic is an instruction: by the architecture, in PTX and in AMD's code. That it is right there, the conformance suite says.
 */
import { describe, expect, it } from 'vitest';
import { cuda, type Vec } from '../cuda/index.ts';
import { hasRocm, inspectCode } from '../driver/hip/amd.testing.ts';
import { CLANG_TOOLS, compileWithClang, hasClang } from '../driver/hip/clang.testing.ts';
import { hipPipeline } from '../driver/hip/compile.ts';
import { HIP_TARGET } from '../driver/hip/info.ts';
import { ptxPipeline } from '../driver/nvidia/compile.ts';
import { openclPipeline } from '../driver/opencl/compile.ts';
import type { i32 } from '../dtype/index.ts';
import type { Kernel } from './ir/ops.ts';
import { compileFor } from './testing.ts';

function dot(a: Vec<i32>, b: Vec<i32>): void {
  const k = cuda.grid(1);
  if (k < a.length) a[k] = cuda.dp4a(a[k], b[k], 1);
}

const ints: Kernel = compileFor(dot, [new Int32Array(1), new Int32Array(1)]).kernel;
const words: Kernel = compileFor(dot, [new Uint32Array(1), new Uint32Array(1)]).kernel;

describe('dp4a', () => {
  it('is an instruction of PTX from sm_61 on', () => {
    const text = (kernel: Kernel, capability: number): string =>
      ptxPipeline.compile(kernel, { capability, isa: [9, 0] }, { name: 'dot', aliased: false }).text;
    expect(text(ints, 61)).toContain('dp4a.s32.s32 ');
    expect(text(words, 90)).toContain('dp4a.u32.u32 ');
    expect(text(ints, 60)).not.toContain('dp4a');
  });

  it.skipIf(!hasRocm())(
    'is an instruction of most AMD GPUs, and is made of others elsewhere',
    { timeout: 300_000 },
    () => {
      const code = (kernel: Kernel, arch: string): string => {
        const { code } = hipPipeline.compile(kernel, { target: HIP_TARGET, arch }, { name: 'dot' });
        return [...inspectCode(code, arch).values()].map((k) => k.instructions).join('\n');
      };
      for (const arch of ['gfx90a', 'gfx1030']) expect(code(ints, arch), arch).toMatch(/v_dot4c?_i32_i8/);
      expect(code(ints, 'gfx900')).not.toMatch(/v_dot4/);
    },
  );

  it.skipIf(!hasClang())('is one of newer ones, too', { timeout: 300_000 }, () => {
    const code = (kernel: Kernel, arch: string): string => {
      const { text } = openclPipeline.compile(kernel, { ...HIP_TARGET, arch }, { name: 'dot' });
      const kernels = inspectCode(compileWithClang(text, arch), arch, CLANG_TOOLS);
      return [...kernels.values()].map((k) => k.instructions).join('\n');
    };
    expect(code(ints, 'gfx942')).toMatch(/v_dot4c_i32_i8/);
    expect(code(words, 'gfx942')).toMatch(/v_dot4_u32_u8/);
    expect(code(ints, 'gfx1100')).toMatch(/v_dot4_i32_iu8 .* neg_lo:\[1,1,0\]/);
    expect(code(words, 'gfx1100')).toMatch(/v_dot4_u32_u8/);
  });
});
