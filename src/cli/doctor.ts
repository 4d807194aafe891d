/**
 * `tsamba doctor`: runs kernels on each device, in processes of their own, compares what they compute, and names the remedy for what is wrong.
 */
import { DEVICE_KINDS, type DeviceKind, KIND_NAMES } from '../driver/driver.ts';
import { inChild } from './children.ts';
import { type Command, defineCommand, EXIT, oneOf } from './command-line.ts';
import { type DeviceRow, describeAll, type KindReport } from './describe.ts';
import type { Attempt } from './try-device.ts';

/** What became of a device. */
export interface Diagnosis {
  readonly kind: DeviceKind;
  readonly index: number;
  readonly name: string;
  readonly verdict: 'works' | 'fails' | 'missing';
  readonly attempts: readonly Attempt[];
  /** What is wrong, in a line. */
  readonly problem?: string | undefined;
  readonly remedy?: string | undefined;
}

/** Compilers of devices take their time the first time. */
const TIMEOUT = 120_000;

/** Examines the devices of some kinds, one after another. */
export async function examine(
  kinds: readonly DeviceKind[],
  told: (diagnosis: Diagnosis) => void,
): Promise<readonly Diagnosis[]> {
  const found: Diagnosis[] = [];
  const add = (diagnosis: Diagnosis): void => {
    found.push(diagnosis);
    told(diagnosis);
  };
  for (const report of await describeAll(kinds)) {
    for (const device of report.devices) add(await diagnose(device));
    if (report.devices.length === 0 || report.reason !== undefined) add(missing(report));
  }
  return found;
}

function missing({ kind, reason = 'none was found', crashed = false }: KindReport): Diagnosis {
  const { name } = DEVICE_KINDS[kind];
  const base = { kind, index: 0, name, attempts: [] };
  if (!crashed) return { ...base, verdict: 'missing', problem: reason };
  return { ...base, verdict: 'fails', problem: reason, remedy: remedyFor(kind, reason, true) };
}

async function diagnose({ kind, index, name, f64 }: DeviceRow): Promise<Diagnosis> {
  const attempts: Attempt[] = [];
  let begun = 'starting';
  const onTold = (told: unknown): void => {
    if ((told as { begun?: string }).begun !== undefined) begun = (told as { begun: string }).begun;
    else attempts.push(told as Attempt);
  };
  const outcome = await inChild('try', { kind, index, hasF64: f64 }, { timeout: TIMEOUT, onTold });
  const wrong = attempts.find(({ problem }) => problem !== undefined);
  const base = { kind, index, name, attempts };
  if (outcome.problem === undefined && wrong === undefined) return { ...base, verdict: 'works' };
  const crashed = outcome.problem !== undefined && outcome.crashed;
  const problem = wrong === undefined ? `${begun}: ${outcome.problem}` : `${wrong.what}: ${wrong.problem}`;
  return { ...base, verdict: 'fails', problem, remedy: remedyFor(kind, problem, crashed) };
}

const DRIVERS: Readonly<Record<DeviceKind, string>> = {
  nvidia:
    'install the newest driver from NVIDIA and look at nvidia-smi; `dmesg | grep NVRM` shows what the kernel module said',
  opencl: 'update the OpenCL driver of this device, or name another: TSAMBA_OPENCL_DEVICE=<part of its name>',
  hip: 'update ROCm, and see that this user is in the groups render and video',
  webgpu: 'update the graphics driver and the package webgpu: npm install webgpu@latest',
  cpu: 'TSAMBA_CPU_THREADS=1, then TSAMBA_CPU_SIMD=0 tell whether threads or SIMD are at fault; try another version of Node.js',
  simulator: 'try another version of Node.js',
};

/** What to do about it. */
function remedyFor(kind: DeviceKind, problem: string, crashed: boolean): string {
  const instead = DEVICE_KINDS[kind].inProcess ? '' : '; until then TSAMBA_DEVICE=cpu computes on the CPU device';
  const report = `npx tsamba test --device ${kind} makes a report to attach to an issue`;
  if (crashed || /wrong numbers/.test(problem)) return `${DRIVERS[kind]}${instead}; ${report}`;
  return `${DRIVERS[kind]}${instead}`;
}

/** A diagnosis as text. */
function diagnosisText({ kind, index, name, verdict, attempts, problem, remedy }: Diagnosis): string {
  const head = `${kind} ${index}`.padEnd(12);
  if (verdict === 'missing') return `-    ${kind.padEnd(12)} not available: ${problem}`;
  const total = attempts.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  if (verdict === 'works') return `ok   ${head} ${name}: ${attempts.length} checks in ${Math.round(total)} ms`;
  return `FAIL ${head} ${name}\n       ${problem?.replaceAll('\n', '\n       ')}\n       remedy: ${remedy}`;
}

export const doctor: Command = defineCommand({
  name: 'doctor',
  usage: '[--device kind] [--json]',
  summary: 'runs kernels on each device, checks the results, and says how to fix what is wrong',
  options: {
    device: { value: KIND_NAMES.join('|'), help: 'only devices of this kind; fails if there are none' },
    json: { help: 'prints JSON' },
  },
  notes: 'Exit code 0: all devices found work. 1: one does not, or there is none of the requested kind.',
  async run({ options }) {
    const asked = options.get('device');
    const kinds = asked === undefined ? KIND_NAMES : [oneOf('--device', asked, KIND_NAMES)];
    const json = options.has('json');
    const found = await examine(kinds, (one) => json || console.log(diagnosisText(one)));
    const bad = found.filter(({ verdict }) => verdict === 'fails' || (verdict === 'missing' && asked !== undefined));
    if (json) console.log(JSON.stringify({ healthy: bad.length === 0, devices: found }, undefined, 2));
    return bad.length === 0 ? EXIT.ok : EXIT.failed;
  },
});
