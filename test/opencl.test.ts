/**
 * What kernels become, as a reader of OpenCL C would like to see it.
 */
import { describe, expect, it } from 'vitest';
import type { CompileOptions } from '../src/compiler/contract.ts';
import type { OpenCLOptions, OpenCLTarget } from '../src/compiler/render/opencl/module.ts';
import { compileFor } from '../src/compiler/testing.ts';
import { cuda } from '../src/cuda/index.ts';
import { openclPipeline } from '../src/driver/opencl/compile.ts';
import { f32, type Mat, u8, type Vec } from '../src/index.ts';

/** The program without its first line, which names the kernel. */
function program(
  fn: (...args: never[]) => unknown,
  args: Parameters<typeof compileFor>[1],
  options: Partial<CompileOptions> = {},
  form: Omit<OpenCLOptions, 'name'> = {},
  device: Partial<OpenCLTarget> = {},
): string {
  const { kernel } = compileFor(fn, args, {
    checked: false,
    contract: true,
    debug: false,
    defaultFloat: 'f32',
    ...options,
  });
  const target = {
    dialect: 'opencl',
    fp64: true,
    int64Atomics: 'extended',
    fastFma: true,
    correctlyRounded: true,
    maxConstantBytes: 65536,
    ...device,
  } as const;
  const { text } = openclPipeline.compile(kernel, target, { name: 'kernel', ...form });
  return text.slice(text.indexOf('\n') + 1);
}

const floats = new Float32Array(64);

describe('OpenCL C', () => {
  it('of saxpy', () => {
    const saxpy = (a: number, x: Vec<f32>, y: Vec<f32>): void => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] += a * x[i];
    };
    expect(program(saxpy, [2, floats, floats])).toMatchInlineSnapshot(`
      "#pragma OPENCL FP_CONTRACT ON
      typedef float f32_t __attribute__((may_alias));
      kernel void tsamba_kernel(
          int p0_y_shape_0_,
          global uchar *p1_y,
          ulong p1_y_offset,
          float p2_a,
          global uchar *p3_x,
          ulong p3_x_offset,
          int p4_x_shape_0_) {
        int v0_i;
        global f32_t *const a0_y = (global f32_t *)(p1_y + p1_y_offset);
        global f32_t *const a1_x = (global f32_t *)(p3_x + p3_x_offset);
        v0_i = (int)((uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0));
        if (v0_i < p0_y_shape_0_) {
          a0_y[v0_i] = a0_y[v0_i] + p2_a * a1_x[v0_i];
        }
      }
      "
    `);
  });

  it('of a tiled product of matrices: tiles in local memory, barriers that all work items meet', () => {
    const product = (A: Mat<f32>, B: Mat<f32>, C: Mat<f32>): void => {
      const sA = cuda.shared.array([8, 8], f32);
      const sB = cuda.shared.array([8, 8], f32);
      const [x, y] = cuda.grid(2);
      const [tx, ty] = [cuda.threadIdx.x, cuda.threadIdx.y];
      let sum = 0;
      for (let k = 0; k < A.shape[1]; k += 8) {
        sA[ty][tx] = A[y][k + tx];
        sB[ty][tx] = B[k + ty][x];
        cuda.syncThreads();
        for (let j = 0; j < 8; j++) sum += sA[ty][j] * sB[j][tx];
        cuda.syncThreads();
      }
      C[y][x] = sum;
    };
    const matrix = { data: new Float32Array(256), shape: [16, 16] };
    expect(program(product, [matrix, matrix, matrix])).toMatchInlineSnapshot(`
      "#pragma OPENCL FP_CONTRACT ON
      typedef float f32_t __attribute__((may_alias));
      kernel void tsamba_kernel(
          int p0_A_shape_1_,
          global uchar *p1_A,
          ulong p1_A_offset,
          int p2_A_shape_0_,
          global uchar *p3_B,
          ulong p3_B_offset,
          int p4_B_shape_1_,
          int p5_B_shape_0_,
          global uchar *p6_C,
          ulong p6_C_offset,
          int p7_C_shape_1_,
          int p8_C_shape_0_) {
        int v0__grid_x;
        int v1__grid_y;
        float v6_sum;
        int v7_k;
        int v8_j;
        local f32_t a1_sA[64] __attribute__((aligned(16)));
        local f32_t a3_sB[64] __attribute__((aligned(16)));
        global f32_t *const a0_A = (global f32_t *)(p1_A + p1_A_offset);
        global f32_t *const a2_B = (global f32_t *)(p3_B + p3_B_offset);
        global f32_t *const a4_C = (global f32_t *)(p6_C + p6_C_offset);
        v0__grid_x = (int)((uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0));
        v1__grid_y = (int)((uint)get_group_id(1) * (uint)get_local_size(1) + (uint)get_local_id(1));
        v6_sum = 0.0f;
        v7_k = 0;
        for (; v7_k < p0_A_shape_1_; v7_k = (int)((uint)v7_k + 8u)) {
          a1_sA[(int)get_local_id(1) * 8 + (int)get_local_id(0)] = a0_A[v1__grid_y * p0_A_shape_1_ + (v7_k + (int)get_local_id(0))];
          a3_sB[(int)get_local_id(1) * 8 + (int)get_local_id(0)] = a2_B[(v7_k + (int)get_local_id(1)) * p4_B_shape_1_ + v0__grid_x];
          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
          v8_j = 0;
          for (; v8_j < 8; v8_j = (int)((uint)v8_j + 1u)) {
            v6_sum = v6_sum + a1_sA[(int)get_local_id(1) * 8 + v8_j] * a3_sB[v8_j * 8 + (int)get_local_id(0)];
          }
          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
        a4_C[v1__grid_y * p7_C_shape_1_ + v0__grid_x] = v6_sum;
      }
      "
    `);
  });

  it('of a sum with an early return: work items that return still come to the barriers', () => {
    const reduce = (x: Vec<f32>, out: Vec<f32>): void => {
      const s = cuda.shared.array(64, f32);
      const [i, t] = [cuda.grid(1), cuda.threadIdx.x];
      if (i >= x.length) return;
      s[t] = x[i];
      cuda.syncThreads();
      for (let k = 32; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        cuda.syncThreads();
      }
      if (t === 0) cuda.atomic.add(out, 0, s[0]);
    };
    expect(program(reduce, [floats, floats])).toMatchInlineSnapshot(`
      "#pragma OPENCL FP_CONTRACT ON
      typedef float f32_t __attribute__((may_alias));
      static inline float atomic_add_f32_global(volatile global uint *p, float a) { uint seen = 0; for (;;) { float old = as_float(seen); uint found = atomic_cmpxchg(p, seen, as_uint((float)(old + a))); if (found == seen) return old; seen = found; } }
      kernel void tsamba_kernel(
          int p0_x_shape_0_,
          global uchar *p1_x,
          ulong p1_x_offset,
          global uchar *p2_out,
          ulong p2_out_offset,
          int p3_out_shape_0_) {
        int v0_i;
        int v2_k;
        bool v3__live;
        local f32_t a1_s[64] __attribute__((aligned(16)));
        global f32_t *const a0_x = (global f32_t *)(p1_x + p1_x_offset);
        global f32_t *const a2_out = (global f32_t *)(p2_out + p2_out_offset);
        v3__live = true;
        v0_i = (int)((uint)get_group_id(0) * (uint)get_local_size(0) + (uint)get_local_id(0));
        if (v0_i >= p0_x_shape_0_) {
          v3__live = false;
        }
        if (v3__live) {
          a1_s[(int)get_local_id(0)] = a0_x[v0_i];
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        v2_k = 32;
        for (; v2_k > 0; v2_k = v2_k >> 1) {
          if (v3__live) {
            if ((int)get_local_id(0) < v2_k) {
              a1_s[(int)get_local_id(0)] = a1_s[(int)get_local_id(0)] + a1_s[(int)get_local_id(0) + v2_k];
            }
          }
          barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
        if (v3__live) {
          if ((int)get_local_id(0) == 0) {
            atomic_add_f32_global((volatile global uint *)(&a2_out[0]), a1_s[0]);
          }
        }
      }
      "
    `);
  });

  it('of arrays that share no memory: those that are only read are constant', () => {
    const copy = (x: Vec<f32>, y: Vec<f32>): void => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = x[i];
    };
    const text = program(copy, [floats, floats], {}, { disjoint: true });
    expect(text).toMatch(/^ +global const uchar \*restrict p\d_x,$/m);
    expect(text).toMatch(/^ +const global f32_t \*const a\d_x = \(const global f32_t \*\)/m);
    expect(text).toMatch(/^ +global uchar \*p\d_y,$/m);
  });

  it('of dynamic shared memory of a size that must be declared: no argument', () => {
    const reverse = (x: Vec<f32>): void => {
      const s = cuda.shared.array(0, f32);
      const t = cuda.threadIdx.x;
      s[t] = x[t];
      cuda.syncThreads();
      x[t] = s[s.length - 1 - t];
    };
    expect(program(reverse, [floats])).toContain('local ulong2 *shared_memory)');
    const declared = program(reverse, [floats], {}, { sharedBytes: 1000 });
    expect(declared).toContain('local ulong2 shared_memory[63];');
    expect(declared).not.toContain('*shared_memory');
  });

  it("of a group's place along axes that it chooses: on PoCL read before any condition", () => {
    const sizes = (x: Vec<f32>): void => {
      for (let d = 0; d < 3; d++) x[d] = d === 0 ? cuda.gridDim.x : d === 1 ? cuda.gridDim.y : cuda.blockIdx.x;
    };
    expect(program(sizes, [floats])).toContain('(int)get_num_groups(1)');
    const early = program(sizes, [floats], {}, {}, { positionsFirst: true });
    expect(early.match(/.*get_(num_groups|group_id).*/g)).toEqual([
      '  const int gridDim_x = (int)get_num_groups(0);',
      '  const int gridDim_y = (int)get_num_groups(1);',
      expect.stringMatching(/gridDim_x .* gridDim_y .*\(int\)get_group_id\(0\)/),
    ]);
  });

  it('of narrow elements: what is stored is converted, so that no compiler warns', () => {
    const clear = (x: Vec<u8>): void => {
      x[cuda.threadIdx.x] = u8(1234);
    };
    expect(program(clear, [new Uint8Array(4)])).toMatch(/= \(u8_t\)/);
  });
});
