/**
 * Runs random programs over records on devices, in global, local and shared memory, and compares what they leave.
 *
 *   npx tsx test/fuzz/records.ts --programs 5000 --seed 1
 */
import { pathToFileURL } from 'node:url';
import { cuda, i32, KernelError, ndarray, struct } from '../../src/index.ts';
import { COUNT, evaluateRecords, generateRecords, type RecordProgram, type Row, rows } from './record-programs.ts';

const ROW = struct({ x: i32, y: i32, in: struct({ a: i32, b: i32 }), f: i32.array(2) });

/** How a program came out: `'refused'` where the compiler says that a name could mean two things. */
export type Verdict = 'right' | 'refused' | { readonly wrong: string };

const SPACES: Readonly<Record<string, (text: string) => string>> = {
  global: (text) => `(p, out) => {\n${text}\n}`,
  local: (text) => through('cuda.local.array', text),
  shared: (text) => through('cuda.shared.array', text),
};

function through(make: string, text: string): string {
  return `(given, out) => {
const p = ${make}(${COUNT}, ROW);
for (let i = 0; i < ${COUNT}; i++) p[i] = given[i];
{
${text}
}
for (let i = 0; i < ${COUNT}; i++) given[i] = p[i];
}`;
}

export function checkRecords(program: RecordProgram): Verdict {
  const expected = evaluateRecords(program);
  for (const [space, wrap] of Object.entries(SPACES)) {
    const text = wrap(program.text);
    const fn = new Function('cuda', 'ROW', `return ${text}`)(cuda, ROW) as (...args: never[]) => void;
    const kernel = cuda.jit(fn as never, { captures: { cuda, ROW } });
    using p = cuda.toDevice(ndarray(rows() as never, { dtype: ROW }));
    using out = cuda.toDevice(new Int32Array(32));
    try {
      (kernel.launch as (...args: unknown[]) => void)({ grid: 1, block: 1 }, p, out);
    } catch (error) {
      if (error instanceof KernelError && error.code === 'K244') return 'refused';
      throw new Error(`seed ${program.seed}:\n${text}`, { cause: error });
    }
    const left = p.copyToHost().toArray() as unknown as Row[];
    const numbers = out.copyToHost();
    if (JSON.stringify(left) !== JSON.stringify(expected.p) || String(numbers) !== String(expected.out)) {
      const what = `${JSON.stringify(left)} ${numbers}\ninstead of\n${JSON.stringify(expected.p)} ${expected.out}`;
      return { wrong: `seed ${program.seed}, ${space}:\n${text}\n${what}` };
    }
  }
  return 'right';
}

function option(name: string, otherwise: number): number {
  const i = process.argv.indexOf(`--${name}`);
  return i < 0 ? otherwise : Number(process.argv[i + 1]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const first = option('seed', 1);
  const programs = option('programs', 1000);
  const counts = { right: 0, refused: 0, wrong: 0 };
  for (let seed = first; seed < first + programs; seed++) {
    const verdict = checkRecords(generateRecords(seed));
    if (typeof verdict === 'string') counts[verdict]++;
    else if (++counts.wrong <= 3) process.stdout.write(`${verdict.wrong}\n\n`);
  }
  process.stdout.write(`${programs} programs over records: ${JSON.stringify(counts)}\n`);
  if (counts.wrong > 0) process.exitCode = 1;
}
