/**
 * Chapter: what kernels, parameters and variables may be called: long names, letters of any alphabet, and what generated code and
 * other languages have names for.
 */
import { cuda, type f64, i32, type Vec } from '../src/index.ts';
import { sameElements } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { eachType, zeros } from './support.ts';
import { launch, read } from './waiting.ts';

const LONG = 'k'.repeat(5000);

/** Words of OpenCL C, C++, PTX, WGSL and JavaScript, and of the code that kernels become. */
const WORDS: readonly string[] = (
  'main int kernel global local __global __kernel printf barrier half uint float4 get_global_id template namespace operator NULL ' +
  'sizeof register volatile WARP_SZ add mov ret tsamba_fault tsamba_print shared_x_1 tid param_0 memory zero faults failed votes ' +
  'fn loop ptr vec4f mat4x4f bitcast select storage workgroup override alias discard array struct f32 bool texture_2d ' +
  'constants shared_memory launch_number threadIdx blockIdx blockDim gridDim $ $f $1 _ __proto__ constructor toString'
).split(' ');

const LETTERS: readonly string[] = ['größe', 'Δx', '変数', '𝑥', '𝒻𝓃', 'ªº', 'a\u200dk', `${LONG}1`, `${LONG}2`];

/** Letters written as escapes. */
const ESCAPES: readonly string[] = ['\\u{1d466}', '\\u0078y'];

/** Names that only sloppy code may use. */
const SLOPPY: readonly string[] = ['await', 'yield', 'let', 'static', 'async', 'implements', 'interface', 'package'];

const ALL = [...WORDS, ...LETTERS, ...ESCAPES, ...SLOPPY];

/** A function from its text, so that no compiler changes its names. */
function written<F extends (...args: never[]) => void>(text: string): F {
  return new Function(`return ${text}`)() as F;
}

/** Fractions of both types: kernels are given what such numbers are, where nothing else says so. */
const FLOATS = ['f64', 'f32'] as const;

function kernels(names: readonly string[]): () => Promise<void> {
  return () =>
    eachType(FLOATS, async (defaultFloat) => {
      for (const name of names) {
        const body = written<(out: Vec<f64>, x: number) => void>(`function ${name}(out, x) { out[0] = x; }`);
        const out = zeros(1, defaultFloat as 'f64');
        await launch(cuda.jit(body, { defaultFloat }), { grid: 1, block: 1 }, out, 3.5);
        sameElements(await read(out), [3.5], `kernel ${name.slice(0, 20)}: element`);
      }
    });
}

const numbers = ALL.map((_, k) => k + 0.25);
const sums = numbers.map((x) => x + 3);

/** Numbers as parameters, which a loop adds to. */
async function parameters(): Promise<void> {
  const body = ALL.map((name, k) => `for (let i = 0; i < 3; i++) ${name}++; out[${k}] = ${name};`).join('\n');
  await eachType(FLOATS, async (defaultFloat) => {
    const text = `(out, ${ALL.join(', ')}) => {\n${body}\n}`;
    const kernel = cuda.jit(written<(...args: unknown[]) => void>(text), { defaultFloat });
    const out = zeros(ALL.length, defaultFloat);
    await launch(kernel, { grid: 1, block: 1 }, out, ...numbers);
    sameElements(await read(out), sums);
  });
}

/** Variables of each name. */
async function variables(): Promise<void> {
  const lines = ALL.map(
    (name, k) => `{ var ${name} = x + ${k}; for (var i = 0; i < 3; i++) ${name}++; out[${k}] = ${name}; }`,
  );
  await eachType(FLOATS, async (defaultFloat) => {
    const text = `(out, x) => {\n${lines.join('\n')}\n}`;
    const kernel = cuda.jit(written<(out: Vec<f64>, x: number) => void>(text), { defaultFloat });
    const out = zeros(ALL.length, defaultFloat as 'f64');
    await launch(kernel, { grid: 1, block: 1 }, out, 0.25);
    sameElements(await read(out), sums);
  });
}

/** Arrays as parameters, a few at a time. */
async function arrays(): Promise<void> {
  // `let[0]` declares something.
  const able = ALL.filter((name) => name !== 'let');
  for (let from = 0; from < able.length; from += 16) {
    const names = able.slice(from, from + 16);
    const body = names.map((name, k) => `${name}[0] += ${k};`).join(' ');
    const kernel = cuda.jit(written<(...args: unknown[]) => void>(`(${names.join(', ')}) => { ${body} }`));
    const all = names.map(() => zeros(1, i32));
    await launch(kernel, { grid: 1, block: 1 }, ...all);
    for (const [k, array] of all.entries()) sameElements(await read(array), [k], `${names[k]?.slice(0, 20)}: element`);
  }
}

export const names: readonly ConformanceTest[] = chapter('names', {
  'kernels called as words of other languages': kernels([
    'main',
    'int',
    'kernel',
    'printf',
    '__global',
    'WARP_SZ',
    'add',
  ]),
  'kernels called as the code around them': kernels(['tsamba_fault', 'shared_x_1', '$', '$f', 'threadIdx', '_', '$1']),
  'kernels with letters of any alphabet': kernels(['größe', '変数', '𝑥', '\\u{1d466}']),
  'kernels with long names': kernels(['k'.repeat(250), `${LONG}1`, `${LONG}2`]),
  'parameters that are numbers': parameters,
  'parameters that are arrays': arrays,
  variables,
});
