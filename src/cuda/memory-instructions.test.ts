/** What memory operations and fast functions become in PTX: the instructions that they name. */
import { describe, expect, it } from 'vitest';
import { cuda, type f32, type i32, type Vec } from '../index.ts';

const orders = cuda.jit(
  (a: Vec<i32>, b: Vec<f32>) => {
    const k = cuda.grid(1);
    a[k] = cuda.atomic.load(a, k, { order: 'acquire' });
    cuda.atomic.store(a, k, 1, { order: 'release', scope: 'system' });
    cuda.atomic.add(a, k, 1, { order: 'acq_rel', scope: 'block' });
    cuda.atomic.max(b, k, 2, { order: 'release' });
    cuda.atomic.exch(b, k, 3, { order: 'seq_cst' });
  },
  { signature: 'void(i32[::1], f32[::1])' },
);

const hints = cuda.jit(
  (x: Vec<f32>, y: Vec<f32>) => {
    const k = cuda.grid(1);
    cuda.stcs(y, k, cuda.ldcg(x, k) + cuda.ldlu(x, k + 1) + cuda.ldcv(x, k));
    cuda.stwt(y, k + 1, cuda.fast.sin(x[k]!) + cuda.fast.div(x[k]!, x[k + 1]!) + cuda.fast.sqrt(x[k]!));
  },
  { signature: 'void(f32[::1], f32[::1])' },
);

describe('instructions of NVIDIA GPUs', () => {
  it('have orders and scopes from sm_70 on, before that there are fences', () => {
    const text = orders.inspect({ target: 'ptx', arch: 'sm_80' });
    expect(text).toMatch(/ld\.acquire\.gpu\.global\.b32/);
    expect(text).toMatch(/st\.release\.sys\.global\.b32/);
    expect(text).toMatch(/atom\.acq_rel\.cta\.global\.add\.s32/);
    expect(text).toMatch(/fence\.sc\.gpu;[^;]*;\s*atom\.acq_rel\.gpu\.global\.exch\.b32/);
    // A loop around an exchange is ordered by a fence.
    expect(text).toMatch(/membar\.gl;/);
    const old = orders.inspect({ target: 'ptx', arch: 'sm_60' });
    expect(old).toMatch(/ld\.volatile\.global\.b32 [^;]*;\s*membar\.gl/);
    expect(old).not.toMatch(/acquire|release|fence\.sc/);
  });

  it('read what others write while the kernel runs by the coherent path', () => {
    const text = (order: 'acquire' | 'relaxed'): string =>
      cuda
        .jit(
          (y: Vec<f32>, data: Vec<f32>, flag: Vec<i32>) => {
            while (cuda.atomic.load(flag, 0, { order, scope: 'system' }) === 0);
            y[0] = data[0]!;
          },
          { signature: 'void(f32[::1], f32[::1], i32[::1])', captures: { order } },
        )
        .inspect({ target: 'ptx', arch: 'sm_80' });
    expect(text('relaxed')).toContain('ld.global.nc.f32');
    expect(text('acquire')).not.toContain('.nc');
  });

  it('take cache hints', () => {
    const text = hints.inspect({ target: 'ptx', arch: 'sm_80' });
    for (const op of [
      'ld.global.cg.f32',
      'ld.global.lu.f32',
      'ld.relaxed.gpu.global.b32',
      'st.global.cs.f32',
      'st.global.wt.f32',
    ])
      expect(text).toContain(op);
  });

  it('approximate what is asked for, and no more', () => {
    const text = hints.inspect({ target: 'ptx', arch: 'sm_80' });
    for (const op of ['sin.approx', 'div.approx', 'sqrt.approx']) expect(text).toContain(op);
    const plain = cuda.jit(
      (x: Vec<f32>) => {
        x[0] = Math.sqrt(x[1]!) + x[2]! / x[3]!;
      },
      { signature: 'void(f32[::1])' },
    );
    expect(plain.inspect({ target: 'ptx', arch: 'sm_80' })).not.toMatch(/approx/);
  });
});
