/**
 * For tests: assembles PTX with ptxas, where it is installed.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isRequired } from '../../../required.testing.ts';
import type { PtxModule } from './module.ts';

const run = promisify(execFile);

/** Whether ptxas can be run. Throws when it has to be there and is not. */
export function hasPtxas(): boolean {
  try {
    execFileSync('ptxas', ['--version'], { stdio: 'ignore' });
    return true;
  } catch (cause) {
    if (isRequired('ptxas')) throw new Error('ptxas is required, but cannot be run', { cause });
    return false;
  }
}

/** Assembles a text for an architecture; what ptxas printed. Rejects with its messages. */
export async function assemble(text: string, sm: number, flags: readonly string[] = []): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-ptx-'));
  try {
    const file = join(folder, 'module.ptx');
    writeFileSync(file, text);
    const { stdout, stderr } = await run('ptxas', [
      `-arch=sm_${sm}`,
      ...flags,
      '-o',
      join(folder, 'module.cubin'),
      file,
    ]);
    return stdout + stderr;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Several modules as one, which takes a fraction of the time to assemble: one head, with the newest version that any of them asks
 * for, and the symbols of each with its number in their names.
 */
export function merge(modules: readonly PtxModule[]): string {
  const bodies = modules.map(({ text, entry }, k) => {
    const body = text.replace(/^\.(version|target|address_size).*\n/gm, '');
    const symbols = [...body.matchAll(/^(?:\.visible |\.extern )?\.(?:shared|const|global) .*?\.b8 ([\w$]+)\[/gm)];
    const names = new Set([entry, ...symbols.map((m) => m[1] ?? '')]);
    return body.replace(/[A-Za-z_$][\w$]*/g, (name) => (names.has(name) ? `${name}__${k}` : name));
  });
  const versions = modules.map(({ text }) => Number(/^\.version (.*)$/m.exec(text)?.[1]));
  const target = /^\.target .*$/m.exec(modules[0]?.text ?? '')?.[0] ?? '';
  return [`.version ${Math.max(...versions).toFixed(1)}`, target, '.address_size 64', ...bodies].join('\n');
}
