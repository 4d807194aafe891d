import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InterpretingDriver } from '../../test/support/interpreting-driver.ts';
import { DeviceNDArray } from '../array/device-array.ts';
import { ndarray } from '../array/ndarray-create.ts';
import { grid } from '../cuda/geometry.ts';
import { deviceArray, jit, toDevice } from '../cuda/host.ts';
import { cuda } from '../cuda/namespace.ts';
import { f32, f64, i32, u8 } from '../dtype/index.ts';
import { KernelError } from '../errors.ts';
import { Context } from '../memory/context.ts';
import { cudaDevices } from '../memory/devices.ts';
import type { Kernel } from './kernel-types.ts';
import { scalar } from './scalar.ts';
import type { Vec } from './types.ts';

let driver: InterpretingDriver;
let context: Context;
const environment = { ...process.env };

beforeEach(() => {
  driver = new InterpretingDriver();
  context = new Context(driver);
  cudaDevices.enter(context);
});
afterEach(() => {
  process.env = { ...environment };
});

type Loose = Kernel<readonly unknown[]>;
const loosely = (kernel: unknown): Loose => kernel as Loose;

const scaleBy = () =>
  jit((a: Vec<f32>, k: number) => {
    const i = grid(1);
    if (i < a.length) a[i] = (a[i] as number) * k;
  });

describe('specialisation', () => {
  it('accesses elements that are not aligned, which GPUs refuse, in pieces', () => {
    const scale = loosely(scaleBy());
    const accesses = () => scale.inspect({ target: 'ptx', arch: 'sm_90' }).match(/(?:ld|st)\.global\.\w+/g);
    const bytes = deviceArray(18, u8);
    bytes.set(0);
    scale.launch({ threads: 4 }, bytes.slice('4:16').view(f32), 2);
    expect(accesses()).toEqual(['ld.global.f32', 'st.global.f32']);
    scale.launch({ threads: 4 }, bytes.slice('1:17').view(f32), 2);
    scale.launch({ threads: 4 }, bytes.slice('5:17').view(f32), 3);
    scale.launch({ threads: 4 }, bytes.slice('2:18').view(f32), 2);
    scale.launch({ threads: 4 }, new DeviceNDArray([3], [6], f32), 2);
    const pieces = [...Array(4).fill('ld.global.u8'), ...Array(4).fill('st.global.u8')];
    expect(scale.stats.specialisations).toHaveLength(4);
    expect(accesses()?.slice(2, 10)).toEqual(pieces);
    expect(accesses()?.slice(10)).toEqual(
      Array(2)
        .fill(['ld', 'ld', 'st', 'st'].map((op) => `${op}.global.u16`))
        .flat(),
    );
  });

  it('compiles lazily, once for each combination of types', () => {
    const scale = loosely(scaleBy());
    expect(driver.programs).toHaveLength(0);
    const [a, b] = [deviceArray(4, f32), deviceArray(9, f32)];
    scale.launch({ threads: 4 }, a, 2);
    scale.launch({ threads: 4 }, b, 2.5);
    expect(driver.programs).toHaveLength(1);
    scale.launch({ threads: 4 }, deviceArray(4, f64), 2);
    scale.launch({ threads: 4 }, a.slice('::2'), 2);
    scale.launch({ threads: 4 }, a, scalar(f32, 2));
    expect(driver.programs).toHaveLength(4);
    for (const array of [a, deviceArray(4, f64), a.slice('::-2')]) scale.launch({ threads: 4 }, array, 2);
    expect(driver.programs).toHaveLength(4);
    const { hits, misses, specialisations } = scale.stats;
    expect([hits, misses]).toEqual([4, 4]);
    expect(specialisations.map(({ signature, launches }) => [signature.replace(/^\w+/, ''), launches])).toEqual([
      ['(f32[::1], number)', 3],
      ['(f64[::1], number)', 2],
      ['(f32[:], number)', 2],
      ['(f32[::1], f32)', 1],
    ]);
  });

  it('takes the values of each launch, not of the first', () => {
    const scale = scaleBy();
    const [a, b] = [toDevice(Float32Array.of(1, 2, 3)), toDevice(Float32Array.of(1, 2, 3, 4))];
    for (const k of [1, 2, 3]) {
      scale.launch({ threads: 4 }, a, k);
      scale.launch({ threads: 4 }, b, k);
    }
    expect([a.copyToHost(), b.copyToHost()]).toEqual([Float32Array.of(6, 12, 18), Float32Array.of(6, 12, 18, 24)]);
  });

  it('uses 64-bit indices where a thread’s place exceeds 32 bits', () => {
    const nothing = jit((a: Vec<f32>) => {
      a[0] = 1;
    });
    const d = deviceArray(1, f32);
    // Too many threads to run here: the driver is asked to launch, and the interpreter never gets that far.
    const launched: number[] = [];
    driver.load = (program) => ({
      attributes: { registers: 0, sharedBytes: 0, localBytes: 0, constBytes: 0, maxThreadsPerBlock: 1024 },
      launch: () => {
        launched.push(program.kernel.indexBits);
      },
      inspect: () => undefined,
      suggestBlock: () => 256,
      activeBlocks: () => 1,
      unload: () => undefined,
    });
    nothing.compile(d);
    expect(nothing.stats.specialisations[0]?.indexBits).toBe(32);
    nothing.launch({ grid: 2 ** 22, block: 1024 }, d);
    nothing.launch({ grid: 2 ** 21 - 1, block: 1024 }, d);
    nothing.launch({ grid: 2 ** 22, block: 1024 }, d);
    expect(launched).toEqual([64, 32, 64]);
    expect(nothing.stats.specialisations.map(({ indexBits, launches }) => [indexBits, launches])).toEqual([
      [32, 1],
      [64, 2],
    ]);
  });

  it('is done again after the context was reset, and unloads on recompile()', () => {
    const scale = scaleBy();
    scale.launch({ threads: 1 }, deviceArray(1, f32), 1);
    context.reset();
    scale.launch({ threads: 1 }, deviceArray(1, f32), 1);
    expect([driver.programs.length, driver.unloaded]).toEqual([2, 1]);
    scale.recompile();
    context.resourceDeallocations.clear();
    expect(driver.unloaded).toBe(2);
    scale.launch({ threads: 1 }, deviceArray(1, f32), 1);
    expect([driver.programs.length, scale.stats.specialisations.length]).toEqual([3, 1]);
  });

  it('passes its options on', () => {
    const kernel = jit(
      (a: Vec<f32>) => {
        a[0] = 1;
      },
      {
        fastMath: true,
        contract: true,
        boundsCheck: false,
        launchBounds: 64,
        maxRegisters: 32,
        name: 'named',
      },
    );
    kernel.compile(deviceArray(1, f32));
    expect(driver.programs[0]).toMatchObject({
      launchBounds: 64,
      maxRegisters: 32,
      kernel: { name: 'named', fastMath: true, contract: true, checked: false, indexBits: 32 },
    });
    expect(kernel.name).toBe('named');
  });

  it('checks bounds as the device does, unless the option or the environment say otherwise', () => {
    const checked = (options: { boundsCheck?: boolean } = {}): boolean | undefined => {
      jit((a: Vec<f32>) => {
        a[0] = 1;
      }, options).compile(deviceArray(1, f32));
      return driver.programs.at(-1)?.kernel.checked;
    };
    expect(checked()).toBe(driver.checkedByDefault);
    process.env['TSAMBA_BOUNDS_CHECK'] = '0';
    expect(checked()).toBe(false);
    process.env['TSAMBA_BOUNDS_CHECK'] = '1';
    expect(checked()).toBe(true);
    expect(checked({ boundsCheck: false })).toBe(false);
  });
});

describe('signatures', () => {
  it('compile when the kernel is made, for contiguous arrays', () => {
    const scale = jit(
      (a: Vec<f32>, k: number) => {
        a[0] = k;
      },
      { signature: 'void(f32[:], f32)' },
    );
    expect(scale.stats.specialisations.map(({ signature }) => signature.replace(/^\w+/, ''))).toEqual([
      '(f32[::1], f32)',
    ]);
    const d = toDevice(Float32Array.of(0, 5));
    scale.launch({ threads: 1 }, d, 2);
    scale.launch({ threads: 1 }, d, 3);
    expect(driver.programs).toHaveLength(1);
    expect(d.copyToHost()).toEqual(Float32Array.of(3, 5));
  });

  it('check strictly', () => {
    const scale = loosely(
      jit(
        (a: Vec<f32>, k: number) => {
          a[0] = k;
        },
        { signature: ['f32[::1]', i32] },
      ),
    );
    const d = deviceArray(4, f32);
    const fails = (...args: unknown[]) => expect(() => scale.launch({ threads: 1 }, ...args));
    fails(deviceArray(4, f64), 1).toThrow('argument 1 (`a`) is f64[::1], and void(f32[::1], i32) wants f32[::1]');
    fails(d.reshape([2, 2]), 1).toThrow('the array has 2 dimensions, not 1');
    fails(d.slice('::2'), 1).toThrow('argument 1 (`a`) is f32[:], and void(f32[::1], i32) wants f32[::1]');
    fails(d, 1.5).toThrow('argument 2 (`k`) is i32 in this kernel: 1.5 is not an integer');
    fails(d, 2 ** 31).toThrow('argument 2 (`k`) is i32 in this kernel: 2147483648 is out of range');
    fails(d).toThrow('takes 2 arguments, void(f32[::1], i32), but got 1');
    expect(driver.launches).toHaveLength(0);
  });

  it('choose among several', () => {
    const both = jit(
      (a: Vec<f32> | Vec<f64>, k: number) => {
        (a as Vec<f32>)[0] = k;
      },
      {
        signature: ['void(f32[:], f32)', 'void(f64[:], f64)'],
      },
    );
    loosely(both).launch({ threads: 1 }, deviceArray(1, f64), 0.1);
    loosely(both).launch({ threads: 1 }, deviceArray(1, f32), 0.1);
    expect(driver.programs).toHaveLength(2);
    expect(driver.launches.map(({ kernel }) => kernel.params.map(({ type }) => type).includes('f64'))).toEqual([
      true,
      false,
    ]);
    expect(() => loosely(both).launch({ threads: 1 }, deviceArray(1, i32), 1)).toThrow(
      /no signature of \w+ takes \(i32\[::1\], a number\)/,
    );
  });

  it('must have as many arguments as the kernel', () => {
    expect(() =>
      jit(
        (a: Vec<f32>) => {
          a[0] = 1;
        },
        { signature: 'void(f32[:], i32)' },
      ),
    ).toThrow('takes 1 argument (a), but got 2');
  });

  it('narrow types wrap nothing', () => {
    const kernel = loosely(
      jit(
        (a: Vec<f32>, k: number) => {
          a[0] = k;
        },
        { signature: 'void(f32[:], uint8)' },
      ),
    );
    kernel.launch({ threads: 1 }, deviceArray(1, f32), 255);
    expect(() => kernel.launch({ threads: 1 }, deviceArray(1, f32), 256)).toThrow(
      'argument 2 (`k`) is u8 in this kernel: 256 is out of range',
    );
  });
});

describe('jit itself', () => {
  it.each<[unknown, string]>([
    ['void(f32[:])', "jit takes a function, got 'void(f32[:])': a signature is an option, jit(fn, { signature })"],
    [undefined, 'jit takes a function, got undefined'],
    [{}, 'jit takes a function, got an empty object'],
  ])('refuses %o', (fn, message) => {
    expect(() => jit(fn as never)).toThrow(message);
  });

  it('refuses kernels', () => {
    const scale = scaleBy();
    expect(() => jit(scale as never)).toThrow('is a kernel already: pass jit the function itself');
  });

  it('makes something that other kernels cannot launch', () => {
    const scale = scaleBy();
    const launches = jit((a: Vec<f32>) => {
      (scale as unknown as Loose).launch({ threads: 1 }, a);
    });
    const allocates = jit((a: Vec<f32>) => {
      a[0] = cuda.deviceArray(3) as unknown as number;
    });
    expect(() => launches.compile(deviceArray(1, f32))).toThrow(
      /a kernel is for the host and cannot be called in a kernel[\s\S]*help: a kernel cannot launch another one/,
    );
    expect(() => allocates.compile(deviceArray(1, f32))).toThrow(
      /cuda\.deviceArray is for the host and cannot be called in a kernel/,
    );
  });

  it('reports what cannot be compiled as KernelErrors, at every launch', () => {
    const bad = jit((a: Vec<f32>) => {
      try {
        a[0] = 1;
      } catch {}
    });
    for (let i = 0; i < 2; i++) expect(() => bad.launch({ threads: 1 }, deviceArray(1, f32))).toThrow(KernelError);
    expect(bad.stats).toEqual({ hits: 0, misses: 0, specialisations: [] });
    const run = [() => bad.launch({ threads: 1 }, deviceArray(1, f32)), () => bad.compile(deviceArray(1, f32))];
    for (const launch of run) {
      const error = catchError(launch);
      // The launch stands in the stack, the inside of the compiler does not.
      expect(error.stack).toContain('specialisation.test.ts');
      expect(error.stack).not.toContain('frontend');
    }
  });
});

describe('inspection', () => {
  it('shows types, IR and the device’s code', () => {
    const scale = scaleBy();
    scale.compile(deviceArray(4, f32), 1);
    expect(scale.inspect()).toMatch(/k\s+f32/);
    expect(scale.inspect({ target: 'ir' })).toContain('blockIdx.x * blockDim.x + threadIdx.x');
    expect(scale.inspect({ target: 'wasm' })).toBe('(module)');
    scale.compile(deviceArray(4, f64) as never, 1);
    expect(scale.inspect()).toMatch(
      /^\/\/ \w+\(f32\[::1\], number\), 32-bit indices, the interpreter\n[\s\S]*\/\/ \w+\(f64/,
    );
  });

  it('shows PTX without a GPU, as a GPU would be given it', () => {
    const axpy = jit((y: Vec<f32>, x: Vec<f32>, k: number) => {
      const i = grid(1);
      if (i < y.length) y[i] = k * (x[i] as number) + (y[i] as number);
    });
    const y = deviceArray(4, f32);
    axpy.compile(y, deviceArray(4, f32), 2);
    const text = axpy.inspect({ target: 'ptx' });
    expect(text).toContain('.target sm_90');
    // No bounds are checked, and a product and a sum may be contracted.
    expect(text).not.toMatch(/fault|mul\.rn/);
    expect(axpy.inspect({ target: 'ptx', arch: 'sm_75' })).toContain('.target sm_75');
    expect(() => axpy.inspect({ target: 'ptx', arch: 'sm_35' })).toThrow(/from sm_50 on/);
    expect(() => axpy.inspect({ target: 'ptx', arch: 'hopper' })).toThrow(RangeError);
    expect(() => axpy.inspect({ target: 'ir', arch: 'sm_90' })).toThrow(/takes arch as a string with target 'ptx'/);
  });

  it('shows OpenCL C without a device, as a GPU would be given it', () => {
    const scale = scaleBy();
    scale.compile(deviceArray(4, f32), 1);
    const text = scale.inspect({ target: 'opencl' });
    expect(text).toContain('kernel void');
    expect(text).toContain('FP_CONTRACT ON');
    expect(text).not.toContain('faults');
    expect(() => scale.inspect({ target: 'opencl', arch: 'gfx90a' })).toThrow(/'ptx' or 'amdgcn'/);
    expect(() => scale.inspect({ target: 'amdgcn', arch: 'sm_90' })).toThrow(/such as 'gfx90a'/);
  });

  it('says what there is', () => {
    const scale = scaleBy();
    expect(() => scale.inspect()).toThrow(/has not been compiled yet: launch it, or call \w+\.compile\(…\)/);
    expect(() => scale.attributes()).toThrow('has not been compiled yet');
    scale.compile(deviceArray(4, f32), 1);
    expect(scale.attributes().maxThreadsPerBlock).toBe(1024);
    expect(scale.inspect({ target: 'wgsl' })).toContain('@compute @workgroup_size(256, 1, 1)');
    expect(() => scale.inspect({ target: 'js' })).toThrow(
      "the interpreter (cpu) cannot show js of kernels: there are 'types', 'ir', 'ptx', 'sass', 'opencl', 'amdgcn', 'wgsl', 'wasm'",
    );
    expect(() => scale.inspect({ target: 'cubin' as never })).toThrow(
      "inspect has the targets 'types', 'ir', 'passes', 'wasm', 'js', 'ptx', 'opencl', 'wgsl', 'sass', 'amdgcn', got 'cubin'",
    );
  });
});

describe('captures', () => {
  it('are read at the first launch and frozen', () => {
    let gain = 2;
    const kernel = jit((a: Vec<f32>) => {
      a[0] = gain;
    });
    gain = 3;
    const d = deviceArray(1, f32);
    kernel.launch({ threads: 1 }, d);
    gain = 4;
    kernel.launch({ threads: 1 }, d);
    expect(d.get(0)).toBe(3);
    kernel.recompile();
    kernel.launch({ threads: 1 }, d);
    expect(d.get(0)).toBe(4);
  });

  it('come from the option where there is a factory', () => {
    const kernel = jit(
      ({ gain }: { gain: number }) =>
        (a: Vec<f32>) => {
          a[0] = gain;
        },
      { captures: { gain: 5 } },
    );
    const d = deviceArray(1, f32);
    kernel.launch({ threads: 1 }, d);
    expect(d.get(0)).toBe(5);
  });

  it('of device arrays are passed by address, and checked', () => {
    const table = toDevice(Float32Array.of(10, 20));
    const kernel = jit((a: Vec<f32>) => {
      const t = table as unknown as Vec<f32>;
      a[0] = t[1] as number;
    });
    const d = deviceArray(1, f32);
    kernel.launch({ threads: 1 }, d);
    expect(d.get(0)).toBe(20);
    table.set(30, 1);
    kernel.launch({ threads: 1 }, d);
    expect(d.get(0)).toBe(30);
    table.dispose();
    expect(() => kernel.launch({ threads: 1 }, d)).toThrow('this array was disposed');
  });

  it('that change are errors with TSAMBA_DEBUG=captures, naming the variable', () => {
    process.env['TSAMBA_DEBUG'] = 'captures';
    let gain = 2;
    const table = Float32Array.of(1, 2);
    const kernel = jit((a: Vec<f32>) => {
      a[0] = gain + (table[1] as number);
    });
    const d = deviceArray(1, f32);
    kernel.launch({ threads: 1 }, d);
    kernel.launch({ threads: 1 }, d);
    gain = 7;
    expect(() => kernel.launch({ threads: 1 }, d)).toThrow(
      /^gain, captured by \w+, was 2 and is now 7: .*pass gain as an argument, or call \w+\.recompile\(\)/,
    );
    gain = 2;
    table[1] = 9;
    expect(() => kernel.launch({ threads: 1 }, d)).toThrow('the elements of table, captured by');
    kernel.recompile();
    kernel.launch({ threads: 1 }, d);
    expect(d.get(0)).toBe(11);
  });
});

it('TSAMBA_DEBUG=sync makes every launch synchronous', () => {
  const makeBad = () =>
    jit((a: Vec<f32>) => {
      a[grid(1) + 5] = 1;
    });
  const d = deviceArray(1, f32);
  const later = makeBad();
  later.launch({ grid: 1, block: 1 }, d);
  expect(() => context.synchronize()).toThrow(/index 5/);
  process.env['TSAMBA_DEBUG'] = 'sync';
  const now = makeBad();
  expect(() => now.launch({ grid: 1, block: 1 }, d)).toThrow(/index 5/);
  expect(() => now.launch({ grid: 1, block: 1 }, d)).toThrow(/index 5/);
});

it('warns once of a number that falls to the default float, by name, where none was chosen', async () => {
  const codes: string[] = [];
  const listen = (warning: Error): void => {
    const { code } = warning as { code?: string };
    if (code === 'TSAMBA_DEFAULT_FLOAT') codes.push(warning.message);
  };
  process.on('warning', listen);
  const body = (a: Vec<i32>, limit: number): void => {
    if (limit * limit > 0.5) a[0] = 1;
  };
  const kernel = jit(body);
  for (let i = 0; i < 2; i++) kernel.launch({ threads: 1 }, deviceArray(1, i32), 2);
  kernel.launch({ threads: 1 }, ndarray.zeros(1, i32), 2);
  // Who has chosen is not told.
  for (const defaultFloat of ['f32', 'f64'] as const)
    jit(body, { defaultFloat }).launch({ threads: 1 }, deviceArray(1, i32), 2);
  await new Promise((done) => setImmediate(done));
  process.off('warning', listen);
  expect(codes).toEqual([
    expect.stringMatching(/determines the type of the number limit, which becomes f64: write f32\(limit\)/),
  ]);
});

function catchError(body: () => void): Error {
  try {
    body();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it did not throw an error');
}
