/**
 * The source-shape matrix: the same kernels after each tool compute the same numbers on the CPU device, and their errors
 * point at the same places of the author's files.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXPECTED } from './expected.ts';
import { explicitProgram, install, SHAPES, type Shape } from './shapes.ts';

/** What the project writes; the same as in its main.ts, which belongs to another type-checking world. */
interface Outcome {
  readonly results: Record<string, number[]>;
  readonly errors: Record<string, { code: string; file: string; line: number; column: number; summary: string }>;
}

const root = mkdtempSync(join(tmpdir(), 'tsamba-shapes-'));
const kernels = readFileSync(fileURLToPath(new URL('./project/kernels.ts', import.meta.url)), 'utf8').split('\n');

/** Line and column of a mark in kernels.ts, 1-based. */
function placeOf(mark: string): { line: number; column: number } {
  const line = kernels.findIndex((text) => text.includes(mark) && !text.includes('declare'));
  return { line: line + 1, column: (kernels[line] ?? '').indexOf(mark) + 1 };
}

async function run(shape: Shape): Promise<Outcome> {
  const dir = join(root, shape.name.replace(/\W+/g, '-'));
  mkdirSync(dir);
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
  const args = await shape.build(dir);
  const out = join(dir, 'outcome.json');
  // The runner's own settings must not reach the runners started here.
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|JEST|NODE_OPTIONS|NODE_ENV|TEST$|DEV$|PROD$|SSR$|MODE$)/.test(name),
  );
  const env = { ...Object.fromEntries(inherited), SHAPE_OUT: out, TSAMBA_DEVICE: 'cpu', NO_COLOR: '1' };
  await promisify(execFile)(process.execPath, args, { cwd: dir, env, timeout: 300_000 });
  return JSON.parse(readFileSync(out, 'utf8')) as Outcome;
}

beforeAll(() => {
  writeFileSync(join(root, 'package.json'), '{ "type": "module" }');
  install(root);
}, 60_000);

afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.each(SHAPES)('$name', (shape) => {
  let outcome: Outcome;
  beforeAll(async () => {
    outcome = await run(shape);
  }, 90_000);

  test.each(Object.keys(EXPECTED))('%s', (name) => {
    const expected = EXPECTED[name] ?? [];
    const computed = outcome.results[name] ?? [];
    expect(computed).toHaveLength(expected.length);
    for (const [i, value] of expected.entries()) {
      if (Math.abs((computed[i] ?? Number.NaN) - value) <= 2e-5 * Math.max(1, Math.abs(value))) continue;
      expect.fail(`${name}[${i}] is ${computed[i]}, and ${value} was expected`);
    }
  });

  test('a name that does not exist is reported where it stands', () => {
    const { file, line, column, code } = outcome.errors.brokenName ?? expect.fail('there was no error');
    expect({ file: basename(file), line, column, code }).toEqual({
      file: 'kernels.ts',
      ...placeOf('notDefined'),
      code: 'K010',
    });
  });

  test('a type conflict is reported where it stands', () => {
    const { file, line, column, code } = outcome.errors.brokenTypes ?? expect.fail('there was no error');
    expect({ file: basename(file), line, column, code }).toEqual({
      file: 'kernels.ts',
      ...placeOf('y[i] % n[i]'),
      code: expect.stringMatching(/^K/),
    });
  });
});

test('without an inspector the explicit form runs, minified', async () => {
  const dir = join(root, 'explicit');
  mkdirSync(dir);
  const program = await explicitProgram(dir);
  // Node's permission model shuts the inspector off; its flag lost the word experimental in Node 23.
  const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [flag, '--allow-fs-read=*', '--no-warnings', program],
    {
      env: { ...process.env, NODE_OPTIONS: '', TSAMBA_DEVICE: 'cpu' },
    },
  );
  expect(JSON.parse(stdout)).toEqual(EXPECTED.explicit);
}, 60_000);

test('the project type-checks as its author would see it', async () => {
  const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
  const project = fileURLToPath(new URL('./project', import.meta.url));
  await promisify(execFile)(process.execPath, [tsc, '-p', project]);
}, 60_000);
