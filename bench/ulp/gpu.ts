/**
 * The error of the GPU table in f64, measured on this machine's processor: bodies printed as C, compiled by gcc with fma and
 * without contraction, against libquadmath's 113-bit functions.
 *
 *   npm run ulp:gpu -- [--function exp,log] [--samples N] [--seed N]
 *
 * Zeros, denormals, infinities and NaN come first, then random bits, ordinary ranges, and the neighbourhoods of multiples of π/4 and
 * of small fractions. Exits with 1 when a bound of docs/math.md is exceeded.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MathFn } from '../../src/compiler/ir/ops.ts';
import { GPU_F64 } from '../../src/compiler/math/gpu-f64.ts';
import { arity, GPU_MAX_ULP_F64, MATH_FNS } from '../../src/compiler/math/testing.ts';
import { readOptions } from '../options.ts';
import { printBody } from './c.ts';
import { PROGRAM } from './program.ts';

const given = readOptions('ulp:gpu', 'npm run ulp:gpu --');

const named = given.value('function', MATH_FNS.join(',')).split(',') as MathFn[];
const folder = mkdtempSync(join(tmpdir(), 'ulp-'));
try {
  for (const fn of named) {
    if (!MATH_FNS.includes(fn)) throw new Error(`unknown function ${fn}; there are ${MATH_FNS.join(', ')}`);
    const body = printBody(`k_${fn}`, GPU_F64[fn], 'f64', arity(fn), 'static inline');
    const main = `int main(int argc, char **argv) { long n = atol(argv[1]); seed(atol(argv[2])); RUN${arity(fn)}(${fn}) }`;
    const [source, program] = [join(folder, `${fn}.c`), join(folder, fn)];
    writeFileSync(source, `${PROGRAM}\n${body.text}\n${main}\n`);
    const flags = ['-O2', '-mfma', '-ffp-contract=off', '-w', '-o', program, source, '-lquadmath', '-lm'];
    execFileSync('gcc', flags, { stdio: 'inherit' });
    const line = execFileSync(program, [given.value('samples', '1000000'), given.value('seed', '1')], {
      encoding: 'utf8',
    }).trim();
    const worst = Number(/[\d.]+(?= at )/.exec(line)?.[0] ?? Number.NaN);
    const verdict = worst <= GPU_MAX_ULP_F64[fn] ? '' : `  above its bound of ${GPU_MAX_ULP_F64[fn]}`;
    if (verdict) process.exitCode = 1;
    console.log(`${line}, ${body.operations} operations${verdict}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
