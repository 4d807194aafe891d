/**
 * What a WebGPU device is seen to do beyond what WGSL guarantees, and kernels that are made for it. On SwiftShader, whose subgroups have four threads: it says whether modules for other devices are valid.
 * Skipped where there is no adapter, unless TSAMBA_TEST_REQUIRE names `webgpu`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileKernel } from '../src/compiler/compile.ts';
import { captureFunction } from '../src/compiler/frontend/capture.ts';
import type { ElemType } from '../src/compiler/ir/ops.ts';
import type { Abilities } from '../src/compiler/render/wgsl/module.ts';
import { DEFAULTS } from '../src/compiler/testing.ts';
import type { GpuDevice } from '../src/driver/webgpu/api.ts';
import { compileWgsl } from '../src/driver/webgpu/compile.ts';
import { findGpu } from '../src/driver/webgpu/door.ts';
import { examine } from '../src/driver/webgpu/examine.ts';
import { cuda, f16, type f32, i32, i64, type u32, u64, type Vec } from '../src/index.ts';
import { isRequired } from '../src/required.testing.ts';
import { preferSwiftShader, whyNoWebgpu } from './support/webgpu.ts';

preferSwiftShader();

let device: GpuDevice;
const why = await whyNoWebgpu(async () => {
  const adapter = await (await findGpu()).requestAdapter();
  if (adapter === null) throw new Error('there is no adapter');
  const requiredFeatures = ['subgroups', 'shader-f16'].filter((name) => adapter.features.has(name));
  device = await adapter.requestDevice({ requiredFeatures });
});

afterAll(() => device?.destroy());

/** The device, with something else in the text of modules. */
function spoiled(from: string | RegExp, to: string): GpuDevice {
  const real = device.createShaderModule.bind(device);
  return new Proxy(device, {
    get(target, name) {
      if (name !== 'createShaderModule') {
        const value = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return (options: { readonly code: string }) => {
        expect(options.code).toMatch(from);
        return real({ ...options, code: options.code.replaceAll(from, to) });
      };
    },
  });
}

const asked = (over: Partial<Parameters<typeof examine>[0]> = {}): Parameters<typeof examine>[0] => ({
  device,
  name: 'the adapter',
  rounds: false,
  warps: false,
  halves: true,
  ...over,
});

describe.skipIf(why !== undefined && !isRequired('webgpu'))('a WebGPU device', () => {
  beforeAll(() => expect(why).toBeUndefined());

  it('rounds to f16 as IEEE 754 does, by one way or the other', async () => {
    const { halves } = await examine(asked());
    expect(halves).toBe(device.features.has('shader-f16') ? 'f16' : 'packed');
  });

  it.for<readonly [string, RegExp, string]>([
    [
      'truncates',
      /pack2x16float\(vec2<f32>\((\w+), 0\.0f\)\)/g,
      'pack2x16float(vec2<f32>(bitcast<f32>(bitcast<u32>($1) & 0xffffe000u), 0.0f))',
    ],
    [
      'flushes small ones',
      /unpack2x16float\((\w+)\)\.x/g,
      'unpack2x16float(select($1, $1 & 0x8000u, ($1 & 0x7c00u) == 0u)).x',
    ],
    ['does not round at all', /half_value\(half_bits\(x\) \^ nothing\)/g, 'x'],
    ['makes NaNs of great ones', /65520\.0f/g, '1e30f'],
  ])('that %s packs no halves', async ([, from, to], { skip }) => {
    skip(device.features.has('shader-f16'), 'it rounds by the feature, and is not asked to pack');
    expect((await examine(asked({ device: spoiled(from, to) }))).halves).toBeUndefined();
  });

  it('has no warps where subgroups are others, whatever it says of itself', async ({ skip }) => {
    skip(!device.features.has('subgroups'), 'it has no subgroups');
    expect((await examine(asked({ warps: true }))).warps).toBe(false);
  });

  it('is refused where loops end early', async () => {
    await expect(examine(asked({ rounds: true }))).resolves.toBeDefined();
    const cut = spoiled('n == words[0]', 'n == 65535u');
    await expect(examine(asked({ device: cut, rounds: true }))).rejects.toThrow(
      /the adapter leaves the loops of a kernel after 65,535 rounds/,
    );
  });
});

describe.skipIf(why !== undefined && !isRequired('webgpu'))('modules for devices with warps and f16', () => {
  /** What exchanges a value of each type with the lane across, and what comes of the others. */
  const exchanges = (signed: Vec<number>, floats: Vec<f32>, votes: Vec<u32>): void => {
    const t = cuda.threadIdx.x;
    const x = signed[t] as number;
    const wide = i64(x);
    let sum = x;
    for (let step = 16; step > 0; step >>= 1) sum += cuda.shflDownSync(0xffffffff, sum, step);
    sum +=
      cuda.shflSync(0xffffffff, x, x & 31) + cuda.shflUpSync(0xffffffff, x, 2) + cuda.shflXorSync(0xffffffff, x, sum);
    sum += i32(cuda.shflXorSync(0xffffffff, wide, 4) + i64(cuda.shflUpSync(0xffffffff, u64(wide), 1)));
    signed[t] = sum;
    floats[t] = cuda.shflXorSync(0xffffffff, floats[t] as f32, 8);
    if (cuda.anySync(0xffffffff, x > 3) && !cuda.allSync(0xffffffff, x > 5))
      votes[t] = cuda.ballotSync(0xffffffff, x > 4);
    if (t >> 5 === 0) votes[t] = cuda.matchAnySync(0xffffffff, x) ^ cuda.matchAllSync(0xffffffff, wide)[0];
    votes[t] = (votes[t] as number) ^ cuda.activeMask() ^ Number(cuda.eqSync(0xffffffff, x > 1));
  };
  const halves = (a: Vec<f16>, b: Vec<f16>, out: Vec<f16>): void => {
    const shared = cuda.shared.array(64, f16);
    const t = cuda.threadIdx.x;
    shared[t] = f16((a[t] as number) * (b[t] as number));
    cuda.syncThreads();
    out[t] = f16(f16((shared[63 - t] as number) + 1) / f16(a[t] as number));
  };

  function text(fn: (...args: never[]) => void, elems: readonly ElemType[], abilities: Abilities): string {
    const args = elems.map((elem) => ({ kind: 'array', elem, ndim: 1, layout: 'C', unit: 1 }) as const);
    const options = { ...DEFAULTS, name: 'k', checked: false };
    const { kernel } = compileKernel(
      captureFunction(fn, { name: 'k', captures: { cuda, f16, i32, i64, u64 } }),
      args,
      options,
    );
    const pointers = kernel.params.filter(({ type }) => type === 'ptr');
    const buffers = new Map(pointers.map(({ index }, k) => [index, k]));
    return compileWgsl(kernel, {
      name: 'k',
      block: [64, 1, 1],
      sharedBytes: 0,
      buffers,
      moved: new Set(),
      dispatch: 'whole',
      abilities,
    }).text;
  }

  async function errorOf(code: string): Promise<string | undefined> {
    device.pushErrorScope('validation');
    device.createShaderModule({ code });
    return (await device.popErrorScope())?.message;
  }

  it('exchange by subgroups, without memory, and are valid', async () => {
    const code = text(exchanges, ['i32', 'f32', 'u32'], { warps: true });
    expect(code).toContain('enable subgroups;');
    expect(code).not.toContain('var<workgroup>');
    for (const name of [
      'subgroupShuffle(',
      'subgroupShuffleXor(',
      'subgroupBallot(',
      'subgroupAny(',
      'subgroupAll(',
      'subgroupBroadcastFirst(',
    ])
      expect(code).toContain(name);
    // All lanes come to both halves of a wide value.
    expect(code).toMatch(/subgroupBroadcastFirst\(\w+\.x\)\) & \(/);
    if (device.features.has('subgroups')) expect(await errorOf(code)).toBeUndefined();
  });

  it('exchange through memory elsewhere', async () => {
    const code = text(exchanges, ['i32', 'f32', 'u32'], {});
    expect(code).not.toContain('subgroup');
    expect(code).toContain('var<workgroup>');
    expect(await errorOf(code)).toBeUndefined();
  });

  it.each([
    ['f16', 'enable f16;'],
    ['packed', 'pack2x16float('],
    [undefined, '0x'],
  ] as const)('compute with halves by %s, and are valid', async (way, name) => {
    const code = text(halves, ['f16', 'f16', 'f16'], { halves: way });
    expect(code).toContain(name);
    if (way !== 'f16' || device.features.has('shader-f16')) expect(await errorOf(code)).toBeUndefined();
  });
});
