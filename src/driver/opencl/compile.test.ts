import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as ir from '../../compiler/ir/builder.ts';
import { outcome, randomSample } from '../../compiler/ir/testing.ts';
import { verify } from '../../compiler/ir/verify.ts';
import type { OpenCLTarget } from '../../compiler/render/opencl/module.ts';
import { isRequired } from '../../required.testing.ts';
import { openclPipeline, prepare } from './compile.ts';

const run = promisify(execFile);

const BARE: OpenCLTarget = {
  dialect: 'opencl',
  fp64: false,
  int64Atomics: 'none',
  fastFma: true,
  correctlyRounded: true,
  maxConstantBytes: 65536,
};

/** PoCL takes half a second for each kernel: some of them are enough where it need not be there. */
const THOROUGH = isRequired('pocl');

/** What PoCL leaves otherwise than the interpreter does, in a set of samples; undefined where there is no PoCL. */
async function differences(...args: readonly string[]): Promise<readonly string[] | undefined> {
  const script = fileURLToPath(new URL('./differences.testing.ts', import.meta.url));
  const { stdout } = await run(process.execPath, ['--import', 'tsx', script, ...args], { maxBuffer: 1 << 26 });
  const result = JSON.parse(stdout) as { missing?: string; count?: number; differences?: string[] };
  if (result.missing !== undefined) {
    if (THOROUGH) throw new Error(`PoCL is required: ${result.missing}`);
    return undefined;
  }
  expect(result.count).toBeGreaterThan(0);
  return result.differences;
}

describe('the passes before OpenCL C', () => {
  it('change nothing that a kernel does', () => {
    for (let seed = 300; seed < 310; seed++) {
      const sample = randomSample(seed);
      const kernel = prepare(sample.kernel, BARE, { name: 'random' });
      verify(kernel);
      expect(outcome(sample, kernel), sample.name).toBe(outcome(sample));
    }
  });
});

describe('OpenCL C on PoCL leaves what the interpreter leaves', { timeout: 300_000 }, () => {
  it.each([
    ['of operations on all types', ['operators', '0', THOROUGH ? '1' : '6']],
    ['of random kernels with barriers, votes and early returns', ['random', '0', THOROUGH ? '12' : '3']],
    ['of kernels whose work items leave a construct between two barriers', ['meeting']],
    ['of programs with loops and jumps of every kind', ['programs', '0', THOROUGH ? '12' : '2']],
    ['of the same in checked mode', ['checked', '0', THOROUGH ? '8' : '2']],
  ])('%s', async (_, args) => {
    expect((await differences(...args)) ?? []).toEqual([]);
  });
});

describe('what a device cannot do', () => {
  it('is refused: f64', () => {
    const b = new ir.KernelBuilder('doubles');
    const x = b.global('f64', 'x');
    const kernel = b.build([ir.store(ir.at(x, ir.i32(0)), ir.f64(0.1))]);
    expect(() => openclPipeline.compile(kernel, BARE, { name: 'doubles' })).toThrow(
      expect.objectContaining({ code: 'E_F64' }),
    );
  });

  it('is refused: atomic operations of 64 bits', () => {
    const b = new ir.KernelBuilder('counter');
    const x = b.global('u64', 'x');
    const kernel = b.build([ir.atomic('add', ir.at(x, ir.i32(0)), [ir.u64(1)])]);
    expect(() => openclPipeline.compile(kernel, BARE, { name: 'counter' })).toThrow(
      expect.objectContaining({ code: 'E_ATOMIC64' }),
    );
    const { text } = openclPipeline.compile(kernel, { ...BARE, int64Atomics: 'base' }, { name: 'counter' });
    expect(text).toContain('#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable');
  });
});

describe('arguments of a kernel', () => {
  it('are two for an array, and those that its code asks for beyond its parameters', () => {
    const b = new ir.KernelBuilder('arguments');
    const x = b.global('f32', 'x');
    const flag = b.value('bool', 'flag');
    const s = b.shared('f32', 's');
    const { text, args, sites } = openclPipeline.compile(
      b.build([
        ir.ifElse(flag, [ir.trap('flagged')]),
        ir.store(ir.at(s, ir.i32(0)), ir.cast('f32', ir.special('sharedBytes'))),
        ir.store(ir.at(x, ir.i32(0)), ir.load(ir.at(s, ir.i32(0)))),
      ]),
      BARE,
      { name: 'arguments', block: [32, 2, 1] },
    );
    expect(args).toEqual([
      { kind: 'buffer', param: 0 },
      { kind: 'offset', param: 0 },
      { kind: 'value', param: 1, type: 'bool', size: 1 },
      { kind: 'faults' },
      { kind: 'launchNumber' },
      { kind: 'sharedBytes' },
      { kind: 'shared' },
    ]);
    expect(sites.map((s) => s.message)).toEqual(['flagged']);
    expect(text).toContain('__attribute__((reqd_work_group_size(32, 2, 1)))');
  });

  it('are the buffer alone for an array that begins where it does', () => {
    const b = new ir.KernelBuilder('whole');
    const x = b.global('f32', 'x');
    const kernel = b.build([ir.store(ir.at(x, ir.i32(0)), ir.load(ir.at(x, ir.i32(1))))]);
    const { text, args } = openclPipeline.compile(kernel, BARE, { name: 'whole', whole: true });
    expect(args).toEqual([{ kind: 'buffer', param: 0 }]);
    expect(text).not.toContain('offset');
  });

  it('bring constants that are more than constant memory holds', () => {
    const b = new ir.KernelBuilder('tables');
    const [small, large] = [
      b.constants('u8', 'small', new Uint8Array(100)),
      b.constants('u8', 'large', new Uint8Array(70_000).fill(7)),
    ];
    const out = b.global('u8', 'out');
    const sum = ir.add(ir.load(ir.at(small, ir.i32(1))), ir.load(ir.at(large, ir.i32(69_999))));
    const module = openclPipeline.compile(b.build([ir.store(ir.at(out, ir.i32(0)), sum)]), BARE, { name: 'tables' });
    expect(module.args.at(-1)).toEqual({ kind: 'constants' });
    expect(module.constants?.[69_999]).toBe(7);
  });
});
