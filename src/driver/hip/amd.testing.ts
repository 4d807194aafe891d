/**
 * For tests: code objects of many kernels at once, and what LLVM's tools say is in them. Where TSAMBA_TEST_REQUIRE names `rocm`, a missing
 * compiler or tool is a failure; elsewhere tests that need them are skipped.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HIP_PRELUDE } from '../../compiler/render/opencl/hip.ts';
import type { OpenCLModule } from '../../compiler/render/opencl/module.ts';
import { isRequired } from '../../required.testing.ts';
import { compileHip } from './compiler.ts';

let found: boolean | undefined;

/** Whether ROCm's compiler and LLVM's tools are installed. Throws when they must be. */
export function hasRocm(): boolean {
  found ??= look();
  return found;
}

function look(): boolean {
  const reasons: string[] = [];
  try {
    compileHip('extern "C" __global__ void k() {}', { name: 'k', arch: 'gfx906' });
  } catch (error) {
    reasons.push(String(error));
  }
  for (const tool of ['llvm-objdump', 'llvm-readelf']) {
    if (spawnSync(tool, ['--version']).status !== 0) reasons.push(`${tool} is not installed`);
  }
  const required = isRequired('rocm');
  if (required && reasons.length > 0) throw new Error(`TSAMBA_TEST_REQUIRE names rocm: ${reasons.join('; ')}`);
  return reasons.length === 0;
}

/** Several programs as one; their entries must have different names. */
export function mergeHip(modules: readonly OpenCLModule[]): string {
  const bodies = modules.map(({ text }, k) => `namespace n${k} {\n${text.replace(HIP_PRELUDE, '')}\n}`);
  return [HIP_PRELUDE, ...bodies].join('\n');
}

/** What is in a kernel's code. */
export interface AmdKernel {
  readonly instructions: string;
  /** Bytes of LDS, as the code object says for the hardware to set aside. */
  readonly ldsBytes: number;
  readonly args: readonly { readonly offset: number; readonly size: number; readonly kind: string }[];
}

/** The kernels of a code object, by their names. `version` is at the end of the names of LLVM's tools. */
export function inspectCode(code: Uint8Array, arch: string, version = ''): ReadonlyMap<string, AmdKernel> {
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-hip-'));
  try {
    const file = join(folder, 'code.o');
    writeFileSync(file, code);
    const run = (tool: string, ...args: string[]): string =>
      spawnSync(`${tool}${version}`, [...args, file], { encoding: 'utf8', maxBuffer: 2 ** 29 }).stdout;
    return kernelsOf(run('llvm-readelf', '--notes'), run('llvm-objdump', '-d', `--mcpu=${arch}`, '--no-show-raw-insn'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function kernelsOf(notes: string, listing: string): ReadonlyMap<string, AmdKernel> {
  const parts = listing.split(/^[0-9a-f]+ <(\w+)>:$/m);
  const instructions = new Map<string, string>();
  for (let k = 1; k < parts.length; k += 2) instructions.set(parts[k] ?? '', parts[k + 1] ?? '');
  const kernels = new Map<string, AmdKernel>();
  // Each entry of the list starts with a dash in the outermost column but one.
  for (const note of notes.split(/^ {2}- /m).slice(1)) {
    const number = (key: string, text = note): number => Number(new RegExp(`\\.${key}: +(\\d+)`).exec(text)?.[1] ?? 0);
    const name = /^ {4}\.name: +(\w+)/m.exec(note)?.[1];
    if (name === undefined) continue;
    const args = note
      .split(/^ {6}- /m)
      .slice(1)
      .map((text) => ({
        offset: number('offset', text),
        size: number('size', text),
        kind: /\.value_kind: +(\w+)/.exec(text)?.[1] ?? '',
      }))
      .filter(({ kind }) => kind !== '' && !kind.startsWith('hidden'));
    kernels.set(name, {
      instructions: instructions.get(name) ?? '',
      ldsBytes: number('group_segment_fixed_size'),
      args,
    });
  }
  return kernels;
}
