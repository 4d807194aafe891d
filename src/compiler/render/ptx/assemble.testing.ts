/**
 * For tests: assembles PTX with ptxas, where it is installed.
 *
 * TSAMBA_TEST_REQUIRE is a list of tools, apart by commas, without which tests fail instead of being skipped.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether ptxas can be run. Throws when it has to be there and is not. */
export function hasPtxas(): boolean {
  try {
    execFileSync('ptxas', ['--version'], { stdio: 'ignore' });
    return true;
  } catch (cause) {
    if (process.env['TSAMBA_TEST_REQUIRE']?.split(',').includes('ptxas'))
      throw new Error('ptxas is required', { cause });
    return false;
  }
}

/** Assembles texts for an architecture, all in one run; what ptxas printed. Throws with its messages. */
export async function assemble(texts: readonly string[], sm: number, flags: readonly string[] = []): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tsamba-ptx-'));
  try {
    const files = texts.map((text, i) => {
      const file = join(folder, `${i}.ptx`);
      writeFileSync(file, text);
      return file;
    });
    let said = '';
    for (const file of files) {
      const { stdout, stderr } = await run('ptxas', [`-arch=sm_${sm}`, ...flags, '-o', join(folder, 'out'), file]);
      said += stdout + stderr;
    }
    return said;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
