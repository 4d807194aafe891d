/** Pipelines: passes in order, observed, verified, described. */
import { expect, it } from 'vitest';
import { at, i32, KernelBuilder, special, store } from '../builder.ts';
import type { Kernel } from '../ops.ts';
import { describePasses } from './describe.ts';
import { observingPasses, type Pass, runPasses } from './pipeline.ts';

const b = new KernelBuilder('k');
const out = b.global('i32', 'out');
const kernel = b.build([store(at(out, special('threadIdx.x')), i32(1))]);

const twice: Pass = { name: 'twice', run: (k) => ({ ...k, body: [...k.body, store(at(out, i32(0)), i32(2))] }) };
const nothing: Pass = { name: 'nothing', run: (k) => k };

function names(passes: readonly Pass[], k: Kernel = kernel): string[] {
  const seen: string[] = [];
  observingPasses(
    (run) => seen.push(`${run.name}${run.after === run.before ? '' : '!'}`),
    () => runPasses(passes, k),
  );
  return seen;
}

it('runs passes in order, and tells observers which of them changed something', () => {
  expect(names([nothing, twice, nothing])).toEqual(['nothing', 'twice!', 'nothing']);
  expect(runPasses([twice, twice], kernel).body.length).toBe(3);
});

it('cleans up behind a pass only where it has changed something', () => {
  expect(
    names([
      { ...twice, cleanup: nothing },
      { ...nothing, cleanup: twice },
    ]),
  ).toEqual(['twice!', 'nothing', 'nothing']);
});

it('stops observing when the body throws', () => {
  const seen: string[] = [];
  const fail = (): never => {
    throw new Error('stop');
  };
  expect(() => observingPasses((run) => seen.push(run.name), fail)).toThrow('stop');
  runPasses([nothing], kernel);
  expect(seen).toEqual([]);
});

it('is watched by the verifier in tests', () => {
  const broken: Pass = {
    name: 'breaks',
    run: (k) => ({ ...k, body: [store(at(out, i32(0)), { ...i32(1), type: 'f32' } as never)] }),
  };
  expect(() => runPasses([broken], kernel)).toThrow("the pass 'breaks' made IR that is malformed");
});

it('is described with the IR after each pass that changed it', () => {
  const text = describePasses(kernel, (k) => runPasses([nothing, twice], k)).replaceAll(/\d+\.\d+ ms/g, '… ms');
  const printed = text.split('\n\n');
  expect(printed.map((part) => part.split('\n')[0])).toEqual([
    '// as the front end made it',
    '// nothing, no change: … ms',
    '// twice: … ms',
  ]);
  expect(printed[2]).toContain('out[0] = 2');
  expect(printed[0]).not.toContain('out[0] = 2');
});
