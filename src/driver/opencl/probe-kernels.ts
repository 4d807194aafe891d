/**
 * Whether a device's compiler makes right code of what compilers are known to get wrong (miscompiled.ts), and what it takes if not.
 *
 * Asked once for each implementation, version and processor: the answer is kept in the process and beside the binaries of programs.
 * A device that no cure helps is refused, because its results could not be trusted; `TSAMBA_OPENCL_MISCOMPILED=1` opens it all the same.
 */
import { switchFromEnvironment } from '../../environment.ts';
import { DriverError } from '../../errors.ts';
import { attempt, nodeModule } from '../../host/index.ts';
import type { BinaryCache } from '../binary-cache.ts';
import type { OpenCLContext } from './context.ts';
import { CURES, type Cure, ELEMENTS, NO_CURE, PATTERNS, type Pattern } from './miscompiled.ts';
import { Programs } from './programs.ts';
import type { Queues } from './queues.ts';

const MEM_READ_WRITE = 1;
const MEM_COPY_HOST_PTR = 32;

/** What is needed to run a probe. */
export interface ProbeHost {
  readonly context: OpenCLContext;
  readonly queues: Queues;
  /** Where answers are kept; undefined for nowhere. */
  readonly cache: BinaryCache | undefined;
}

/** What the probes found: patterns that came out wrong, and the cure under which all are right. */
export interface Verdict {
  readonly wrong: readonly string[];
  readonly cure: string | undefined;
}

/** Answers by device and patterns. */
export type Answers = Map<string, Verdict>;

/** Those of this process. */
const known: Answers = new Map();

/** What code for the device needs; undefined for nothing. Throws DriverError when nothing helps. */
export function cureFor(
  host: ProbeHost,
  patterns: readonly Pattern[] = PATTERNS,
  answers: Answers = known,
): Cure | undefined {
  const { listed, identity, info } = host.context.device;
  const concerned = patterns.filter(({ concerns }) => concerns(listed));
  if (concerned.length === 0) return undefined;
  const key = keyOf(concerned);
  const verdict = answers.get(identity + key) ?? kept(host, key) ?? probe(host, key, concerned);
  answers.set(identity + key, verdict);
  const cure = CURES.find(({ name }) => name === verdict.cure);
  if (verdict.wrong.length > 0 && cure === undefined) refuse(info.name, info.driverVersion ?? '', verdict.wrong);
  return cure;
}

/** Patterns, cures, and what makes PoCL compile in another way. */
function keyOf(patterns: readonly Pattern[]): string {
  const settings = Object.entries(process.env).filter(
    ([name]) => name.startsWith('POCL_') && name !== 'POCL_CACHE_DIR',
  );
  const asked = JSON.stringify([patterns, CURES, settings.sort()]);
  return `probe ${nodeModule('node:crypto').createHash('sha256').update(asked).digest('hex')}`;
}

function kept({ cache }: ProbeHost, key: string): Verdict | undefined {
  const bytes = cache?.read(key);
  if (bytes === undefined) return undefined;
  // Whole as the file is, something else may have written it.
  const verdict = attempt(() => JSON.parse(Buffer.from(bytes).toString()) as Partial<Verdict> | null);
  const { wrong, cure } = verdict ?? {};
  const isVerdict = Array.isArray(wrong) && (cure === undefined || CURES.some(({ name }) => name === cure));
  return isVerdict ? { wrong, cure } : undefined;
}

function probe(host: ProbeHost, key: string, patterns: readonly Pattern[]): Verdict {
  const wrong = patterns.filter((pattern) => !isRight(host, pattern, NO_CURE));
  const verdict: Verdict = {
    wrong: wrong.map(({ name }) => name),
    cure: wrong.length === 0 ? undefined : CURES.find((cure) => patterns.every((p) => isRight(host, p, cure)))?.name,
  };
  host.cache?.write(key, () => Buffer.from(JSON.stringify(verdict)));
  return verdict;
}

/** Whether the pattern's kernel gives what it must. */
function isRight({ context, queues }: ProbeHost, pattern: Pattern, cure: Cure): boolean {
  const { cl, out, handle } = context;
  // Without the cache of binaries: what is looked at is what the compiler does now.
  const programs = new Programs(context, undefined);
  const text = `#define HIDE(x) ${cure.hide}\n${pattern.text}`;
  const program = programs.build(text, `-cl-std=CL1.2 ${cure.options}`.trim(), pattern.name);
  const kernel = programs.kernel(program, 'probe');
  const numbers = Int32Array.from({ length: ELEMENTS }, (_, k) => k);
  const results = new Int32Array(ELEMENTS);
  const buffers = [numbers, results].map((array) => {
    const made = cl.clCreateBuffer(
      handle,
      MEM_READ_WRITE | MEM_COPY_HOST_PTR,
      array.byteLength,
      bytesOf(array),
      out.at(0),
    );
    context.check(out.int(0), 'clCreateBuffer');
    return made;
  });
  try {
    for (const [i, size, value] of [
      [0, 8, buffers[0]],
      [1, 8, buffers[1]],
      [2, 4, 0],
    ] as const) {
      out.set(1, BigInt(value ?? 0));
      context.check(cl.clSetKernelArg(kernel, i, size, out.at(1)), 'clSetKernelArg');
    }
    out.set(1, BigInt(pattern.workItems));
    const queue = queues.begin(queues.default);
    const [items, to] = [out.at(1), buffers[1] ?? 0];
    context.check(cl.clEnqueueNDRangeKernel(queue, kernel, 1, 0, items, items, 0, 0, 0), 'clEnqueueNDRangeKernel');
    context.check(
      cl.clEnqueueReadBuffer(queue, to, 1, 0, results.byteLength, bytesOf(results), 0, 0, 0),
      'clEnqueueReadBuffer',
    );
    queues.done(queues.default);
  } finally {
    for (const buffer of buffers) cl.clReleaseMemObject(buffer);
    cl.clReleaseKernel(kernel);
    programs.close();
  }
  return pattern.expected.every((value, k) => results[k] === value);
}

function bytesOf({ buffer }: Int32Array): Uint8Array {
  return new Uint8Array(buffer as ArrayBuffer);
}

function refuse(device: string, version: string, wrong: readonly string[]): void {
  const what = `${device} (${version}) computes wrong numbers: its compiler gets ${wrong.join(', ')} wrong, and nothing that Tsamba knows helps`;
  if (switchFromEnvironment('TSAMBA_OPENCL_MISCOMPILED') === true) {
    process.emitWarning(what, { type: 'TsambaWarning', code: 'TSAMBA_MISCOMPILED' });
    return;
  }
  throw new DriverError(
    'E_MISCOMPILED',
    `${what}\n  help: install another version of the OpenCL implementation, or choose another device (TSAMBA_OPENCL_DEVICE, TSAMBA_ROC_DRIVER=cpu); ` +
      'TSAMBA_OPENCL_MISCOMPILED=1 opens it all the same',
    { api: 'open' },
  );
}
