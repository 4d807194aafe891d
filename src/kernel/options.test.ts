import { describe, expect, it } from 'vitest';
import { f32 } from '../dtype/index.ts';
import { boundsCheckByEnvironment, checkOptions, warnsImplicitCopy } from './options.ts';

describe('options of jit', () => {
  it('have defaults', () => {
    expect(checkOptions({})).toEqual({
      signatures: undefined,
      fastMath: false,
      contract: undefined,
      defaultFloat: 'f64',
      floatIsChosen: false,
      boundsCheck: undefined,
      debug: false,
      launchBounds: undefined,
      minBlocks: undefined,
      maxRegisters: undefined,
      lineInfo: undefined,
      name: undefined,
      captures: undefined,
    });
  });

  it('take launchBounds with blocks', () => {
    expect(checkOptions({ launchBounds: [256, 4] })).toMatchObject({ launchBounds: 256, minBlocks: 4 });
    expect(checkOptions({ launchBounds: 256 })).toMatchObject({ launchBounds: 256, minBlocks: undefined });
  });

  it('take defaultFloat as a string or a token', () => {
    expect(checkOptions({ defaultFloat: f32 }).defaultFloat).toBe('f32');
    expect(checkOptions({ defaultFloat: 'float64' }).defaultFloat).toBe('f64');
  });

  it.each<[unknown, string]>([
    [
      'void(f32[:])',
      "jit takes its options as an object, got 'void(f32[:])': write jit(fn, { signature: 'void(f32[:])' })",
    ],
    [null, 'jit takes its options as an object, got null'],
    [{ fastmath: true }, "jit has no option 'fastmath': did you mean 'fastMath'?"],
    [{ bounds_check: true }, "jit has no option 'bounds_check': did you mean 'boundsCheck'?"],
    [{ device: true }, "jit has no option 'device': the options are signature, fastMath"],
    [{ fastMath: 1 }, 'fastMath must be true or false, got 1'],
    [{ debug: 'yes' }, "debug must be true or false, got 'yes'"],
    [{ defaultFloat: 'i32' }, "defaultFloat must be 'f32' or 'f64', got 'i32'"],
    [{ launchBounds: 0 }, 'launchBounds must be at least 1, got 0'],
    [{ launchBounds: [256] }, 'launchBounds takes threads, or [threads, minBlocks], got [256]'],
    [{ launchBounds: [256, 0] }, 'launchBounds[1], blocks of a multiprocessor, must be at least 1, got 0'],
    [{ launchBounds: ['a', 1] }, "launchBounds[0], threads of a block, must be a whole number, got 'a'"],
    [{ launchBounds: 2.5 }, 'launchBounds must be a whole number, got 2.5'],
    [{ maxRegisters: '32' }, "maxRegisters must be a whole number, got '32'"],
    [{ name: '' }, "name must be a string, got ''"],
    [{ captures: [1] }, 'captures must be an object such as { cuda, gain }, got [1]'],
    [{ signature: 5 }, "signature must be a string such as 'void(f32[:], i32)'"],
  ])('%o is refused', (options, message) => {
    expect(() => checkOptions(options)).toThrow(message);
  });
});

describe('the environment', () => {
  it('turns bounds checks on and off', () => {
    expect(boundsCheckByEnvironment({})).toBeUndefined();
    expect(boundsCheckByEnvironment({ TSAMBA_BOUNDS_CHECK: '' })).toBeUndefined();
    expect(boundsCheckByEnvironment({ TSAMBA_BOUNDS_CHECK: '1' })).toBe(true);
    expect(boundsCheckByEnvironment({ TSAMBA_BOUNDS_CHECK: '0' })).toBe(false);
  });

  it('silences the warning of implicit copies', () => {
    expect(warnsImplicitCopy({})).toBe(true);
    expect(warnsImplicitCopy({ TSAMBA_WARN_IMPLICIT_COPY: '0' })).toBe(false);
    expect(warnsImplicitCopy({ NUMBA_CUDA_WARN_ON_IMPLICIT_COPY: '0' })).toBe(false);
    expect(warnsImplicitCopy({ TSAMBA_WARN_IMPLICIT_COPY: '1', NUMBA_CUDA_WARN_ON_IMPLICIT_COPY: '0' })).toBe(true);
  });
});
