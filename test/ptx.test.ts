/**
 * What kernels become, as a reader of PTX would like to see it.
 */
import { describe, expect, it } from 'vitest';
import type { CompileOptions } from '../src/compiler/contract.ts';
import { compileFor } from '../src/compiler/testing.ts';
import { cuda } from '../src/cuda/index.ts';
import { ptxPipeline } from '../src/driver/nvidia/compile.ts';
import { f32, type Vec } from '../src/index.ts';

/** The body of the entry, without the head of the module. */
function body(
  fn: (...args: never[]) => unknown,
  args: Parameters<typeof compileFor>[1],
  options: Partial<CompileOptions> = {},
): string {
  const { kernel } = compileFor(fn, args, {
    checked: false,
    contract: true,
    debug: false,
    defaultFloat: 'f32',
    ...options,
  });
  const { text } = ptxPipeline.compile(kernel, { capability: 90, isa: [8, 8] }, { name: 'kernel', aliased: false });
  return text.slice(text.indexOf('{')).replaceAll('\t', '  ');
}

const floats = new Float32Array(64);

describe('PTX', () => {
  it('of saxpy: one address for both arrays, one fma, and the read-only path for what is only read', () => {
    const saxpy = (a: number, x: Vec<f32>, y: Vec<f32>): void => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] += a * x[i];
    };
    expect(body(saxpy, [2, floats, floats])).toMatchInlineSnapshot(`
      "{
        .reg .pred %p<2>;
        .reg .b32 %r<7>;
        .reg .b64 %rd<8>;
        .reg .f32 %f<5>;
        .reg .b32 %v0_i;
        mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %ntid.x;
        mov.u32 %r4, %tid.x;
        ld.param.b32 %r6, [param_0];
        ld.param.u64 %rd1, [param_1];
        cvta.to.global.u64 %rd2, %rd1;
        ld.param.f32 %f2, [param_2];
        ld.param.u64 %rd5, [param_3];
        cvta.to.global.u64 %rd6, %rd5;
        mul.lo.s32 %r3, %r1, %r2;
        add.s32 %r5, %r3, %r4;
        mov.b32 %v0_i, %r5;
        setp.ge.s32 %p1, %v0_i, %r6;
        @%p1 bra $L1;
        mul.wide.s32 %rd3, %v0_i, 4;
        add.s64 %rd4, %rd2, %rd3;
        ld.global.f32 %f1, [%rd4];
        add.s64 %rd7, %rd6, %rd3;
        ld.global.nc.f32 %f3, [%rd7];
        fma.rn.f32 %f4, %f2, %f3, %f1;
        st.global.f32 [%rd4], %f4;
      $L1:
        ret;
      }
      "
    `);
  });

  it('of a tile: loops of known length are unrolled into constant offsets', () => {
    const rows = (x: Vec<f32>, y: Vec<f32>): void => {
      const tile = cuda.shared.array([2, 2], f32);
      const { x: tx, y: ty } = cuda.threadIdx;
      let sum = f32(0);
      for (let start = 0; start < x.length; start += 2) {
        tile[ty][tx] = x[start + tx];
        cuda.syncThreads();
        for (let k = 0; k < 2; k++) sum += tile[ty][k] * tile[k][tx];
        cuda.syncThreads();
      }
      y[tx] = sum;
    };
    expect(body(rows, [floats, floats])).toMatchInlineSnapshot(`
      "{
        .reg .pred %p<3>;
        .reg .b32 %r<15>;
        .reg .b64 %rd<9>;
        .reg .f32 %f<8>;
        .reg .f32 %v2_sum;
        .reg .b32 %v3_start;
        ld.param.b32 %r1, [param_0];
        mov.u32 %r2, shared_tile_1;
        mov.u32 %r3, %tid.y;
        mov.u32 %r5, %tid.x;
        ld.param.u64 %rd1, [param_1];
        cvta.to.global.u64 %rd2, %rd1;
        ld.param.u64 %rd5, [param_2];
        cvta.to.global.u64 %rd6, %rd5;
        mov.f32 %v2_sum, 0f00000000;
        mov.b32 %v3_start, 0;
        setp.ge.s32 %p1, %v3_start, %r1;
        @%p1 bra $L2;
        mul.lo.s32 %r4, %r3, 2;
        add.s32 %r6, %r4, %r5;
        shl.b32 %r7, %r6, 2;
        add.s32 %r8, %r2, %r7;
        shl.b32 %r9, %r4, 2;
        add.s32 %r10, %r2, %r9;
        shl.b32 %r11, %r5, 2;
        add.s32 %r12, %r2, %r11;
      $L1:
        add.s32 %r13, %v3_start, %r5;
        mul.wide.s32 %rd3, %r13, 4;
        add.s64 %rd4, %rd2, %rd3;
        ld.global.nc.f32 %f1, [%rd4];
        st.shared.f32 [%r8], %f1;
        bar.sync 0;
        ld.shared.f32 %f2, [%r10];
        ld.shared.f32 %f3, [%r12];
        fma.rn.f32 %f4, %f2, %f3, %v2_sum;
        mov.f32 %v2_sum, %f4;
        ld.shared.f32 %f5, [%r10+4];
        ld.shared.f32 %f6, [%r12+8];
        fma.rn.f32 %f7, %f5, %f6, %v2_sum;
        mov.f32 %v2_sum, %f7;
        bar.sync 0;
        add.s32 %r14, %v3_start, 2;
        mov.b32 %v3_start, %r14;
        setp.lt.s32 %p2, %v3_start, %r1;
        @%p2 bra $L1;
      $L2:
        mul.wide.s32 %rd7, %r5, 4;
        add.s64 %rd8, %rd6, %rd7;
        st.global.f32 [%rd8], %v2_sum;
        ret;
      }
      "
    `);
  });

  it('of a sum over the grid: rounds are counted, so that the assembler unrolls them', () => {
    const total = (x: Vec<f32>, y: Vec<f32>): void => {
      let sum = f32(0);
      for (let i = cuda.grid(1); i < x.length; i += cuda.gridSize(1)) sum += x[i];
      cuda.atomic.add(y, 0, sum);
    };
    expect(body(total, [floats, floats])).toMatchInlineSnapshot(`
      "{
        .reg .pred %p<5>;
        .reg .b32 %r<17>;
        .reg .b64 %rd<7>;
        .reg .f32 %f<3>;
        .reg .f32 %v0_sum;
        .reg .b32 %v1_i;
        .reg .b32 %v2__rounds;
        mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %ntid.x;
        mov.u32 %r4, %tid.x;
        ld.param.b32 %r6, [param_0];
        mov.u32 %r7, %nctaid.x;
        ld.param.u64 %rd1, [param_1];
        cvta.to.global.u64 %rd2, %rd1;
        ld.param.u64 %rd5, [param_2];
        cvta.to.global.u64 %rd6, %rd5;
        mov.f32 %v0_sum, 0f00000000;
        mul.lo.s32 %r3, %r1, %r2;
        add.s32 %r5, %r3, %r4;
        mov.b32 %v1_i, %r5;
        setp.ge.s32 %p1, %v1_i, %r6;
        @%p1 bra $L1;
        mul.lo.s32 %r8, %r7, %r2;
        setp.gt.s32 %p2, %r8, 0;
        sub.s32 %r9, %r6, %v1_i;
        sub.u32 %r10, %r9, 1;
        setp.eq.b32 %p3, %r8, 0;
        div.u32 %r11, %r10, %r8;
        selp.b32 %r12, 0, %r11, %p3;
        add.u32 %r13, %r12, 1;
        selp.b32 %r14, %r13, 4294967295, %p2;
        mov.b32 %v2__rounds, %r14;
      $L2:
        mul.wide.s32 %rd3, %v1_i, 4;
        add.s64 %rd4, %rd2, %rd3;
        ld.global.nc.f32 %f1, [%rd4];
        add.f32 %f2, %v0_sum, %f1;
        mov.f32 %v0_sum, %f2;
        add.s32 %r15, %v1_i, %r8;
        mov.b32 %v1_i, %r15;
        sub.u32 %r16, %v2__rounds, 1;
        mov.b32 %v2__rounds, %r16;
        setp.ne.b32 %p4, %v2__rounds, 0;
        @%p4 bra $L2;
      $L3:
      $L1:
        red.global.add.f32 [%rd6], %v0_sum;
        ret;
      }
      "
    `);
  });

  it('of a checked access: one comparison, and the report out of the way', () => {
    const set = (x: Vec<f32>): void => {
      x[cuda.threadIdx.x] = 1;
    };
    expect(body(set, [floats], { checked: true })).toMatchInlineSnapshot(`
      "{
        .reg .pred %p<3>;
        .reg .b32 %r<17>;
        .reg .b64 %rd<16>;
        .reg .b32 %fault_site;
        .reg .b64 %fault_index;
        .reg .b64 %fault_extent;
        ld.param.u64 %rd1, [param_0];
        cvta.to.global.u64 %rd2, %rd1;
        mov.u32 %r1, %tid.x;
        ld.param.b32 %r2, [param_1];
        setp.ge.u32 %p1, %r1, %r2;
        @%p1 bra $L1;
        mul.wide.s32 %rd5, %r1, 4;
        add.s64 %rd6, %rd2, %rd5;
        st.global.f32 [%rd6], 0f3F800000;
        ret;
      $L1:
        cvt.s64.s32 %rd3, %r1;
        mov.b64 %fault_index, %rd3;
        cvt.s64.s32 %rd4, %r2;
        mov.b64 %fault_extent, %rd4;
        mov.b32 %fault_site, 0;
        bra $fault;
      $fault:
        ld.param.b32 %r3, [param_2];
        mov.u64 %rd7, tsamba_fault;
        and.b32 %r4, %r3, 1023;
        mad.wide.u32 %rd8, %r4, 40, %rd7;
        atom.global.exch.b32 %r5, [%rd8+40], %r3;
        setp.eq.u32 %p2, %r5, %r3;
        @%p2 exit;
        red.global.add.u32 [tsamba_fault+0], 1;
        st.global.b32 [%rd8+8], %fault_site;
        mov.u32 %r6, %tid.y;
        mov.u32 %r7, %tid.z;
        mov.u32 %r8, %ntid.x;
        mov.u32 %r9, %ntid.y;
        mad.lo.s32 %r10, %r7, %r9, %r6;
        mad.lo.s32 %r11, %r10, %r8, %r1;
        st.global.b32 [%rd8+12], %r11;
        mov.u32 %r12, %ctaid.x;
        mov.u32 %r13, %ctaid.y;
        mov.u32 %r14, %ctaid.z;
        mov.u32 %r15, %nctaid.x;
        mov.u32 %r16, %nctaid.y;
        mul.wide.u32 %rd9, %r14, %r16;
        cvt.u64.u32 %rd10, %r13;
        add.s64 %rd11, %rd9, %rd10;
        cvt.u64.u32 %rd12, %r15;
        mul.lo.s64 %rd13, %rd11, %rd12;
        cvt.u64.u32 %rd14, %r12;
        add.s64 %rd15, %rd13, %rd14;
        st.global.b64 [%rd8+16], %rd15;
        st.global.b64 [%rd8+24], %fault_index;
        st.global.b64 [%rd8+32], %fault_extent;
        exit;
      }
      "
    `);
  });
});
