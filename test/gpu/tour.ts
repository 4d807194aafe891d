/**
 * The tour, unchanged, on the GPU: it checks itself against plain JavaScript, and its pictures are those of the CPU device. The
 * note says how far they are from each other.
 *
 * The GPU contracts a*b+c to one rounding and the CPU device does not: values that stand at the edge of two roundings may
 * come out one apart, and points at the edge of the Mandelbrot set may escape at another time.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPng } from '../../examples/tour/png.ts';
import { cudaDevices } from '../../src/memory/devices.ts';
import { type GpuModule, skip } from './suite.ts';

/** Share of a picture's bytes that may differ by more than one. */
const STRAY: Readonly<Record<string, number>> = { 'mandelbrot.png': 0.005 };

function pictures(folder: string, device: string): void {
  const script = fileURLToPath(new URL('tour.mjs', import.meta.url));
  if (!existsSync(script)) skip('tour.mjs is not beside this file');
  const env = { ...process.env, TSAMBA_DEVICE: device };
  execFileSync(process.execPath, [script, folder], { env, stdio: ['ignore', 'ignore', 'pipe'] });
}

function compared(name: string, a: string, b: string): string {
  const [x, y] = [readPng(join(a, name)), readPng(join(b, name))];
  if (x.data.length !== y.data.length) throw new Error(`${name}: ${x.data.length} bytes against ${y.data.length}`);
  let [worst, differ, far] = [0, 0, 0];
  x.data.forEach((v, k) => {
    const d = Math.abs(v - y.data[k]);
    worst = Math.max(worst, d);
    differ += Number(d > 0);
    far += Number(d > 1);
  });
  const note = `${name}: at most ${worst}, ${differ} of ${x.data.length} bytes differ`;
  if (far > (STRAY[name] ?? 0) * x.data.length) throw new Error(`${note}, ${far} by more than one`);
  return note;
}

function run(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-tour-'));
  try {
    const [own, cpu] = [join(folder, 'own'), join(folder, 'cpu')];
    pictures(own, cudaDevices.currentContext().kind);
    pictures(cpu, 'cpu');
    const names = readdirSync(cpu).filter((name) => name.endsWith('.png'));
    return names.map((name) => compared(name, own, cpu)).join('; ');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const tour: GpuModule = {
  chapter: 'the tour',
  tests: [{ name: 'draws the same pictures as on the CPU device', run, seconds: 180 }],
};
