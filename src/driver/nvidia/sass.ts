/**
 * NVIDIA's instructions of kernels, for an architecture that is named, without a device: what `inspect({ target: 'sass', arch: 'sm_90' })` shows, where
 * the CUDA toolkit's assembler and disassembler are installed.
 */

import { variable } from '../../environment.ts';
import { DriverError, NotSupportedError } from '../../errors.ts';
import { nodeModule } from '../../host/index.ts';
import type { OfflineCode } from '../driver.ts';
import { ptxCode } from './offline.ts';

const MOST_BYTES = 2 ** 28;

/** Instructions, as the toolkit's assembler makes them of our PTX. Synchronous; takes tenths of a second. */
export const sassCode: OfflineCode = {
  ...ptxCode,
  target: 'sass',
  show(program, arch = ptxCode.usualArch) {
    const ptx = ptxCode.show(program, arch);
    const { mkdtempSync, rmSync, writeFileSync } = nodeModule('node:fs');
    const { join } = nodeModule('node:path');
    const folder = mkdtempSync(join(nodeModule('node:os').tmpdir(), 'tsamba-'));
    try {
      const [source, cubin] = [join(folder, 'kernel.ptx'), join(folder, 'kernel.cubin')];
      writeFileSync(source, ptx);
      const lines = program.lineInfo === true;
      run('ptxas', [`-arch=${arch}`, ...(lines ? ['-lineinfo'] : []), source, '-o', cubin]);
      return run('nvdisasm', ['-c', ...(lines ? ['-g'] : []), cubin]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** What a tool of the toolkit prints. */
function run(tool: 'ptxas' | 'nvdisasm', args: readonly string[]): string {
  for (const path of pathsOf(tool)) {
    const options = { encoding: 'utf8', maxBuffer: MOST_BYTES } as const;
    const { error, status, stdout, stderr } = nodeModule('node:child_process').spawnSync(path, args, options);
    if (error !== undefined) continue;
    if (status === 0) return stdout;
    throw new DriverError(
      'E_PTX_REJECTED',
      `${path} does not accept the code of this kernel\n  ${stderr.trim().split('\n').slice(0, 20).join('\n  ')}\n` +
        '  help: an architecture that it does not know needs a newer CUDA toolkit',
      { api: tool },
    );
  }
  throw new NotSupportedError(
    'E_NO_DISASSEMBLER',
    `'sass' needs ${tool} of NVIDIA's CUDA toolkit, which is not installed, or not found\n` +
      "  help: install the toolkit and put its bin folder into PATH, or set CUDA_HOME; 'ptx' needs neither",
  );
}

/** Where a tool may be, in the order in which it is tried. */
function pathsOf(tool: string): string[] {
  const { join } = nodeModule('node:path');
  const homes = [variable('CUDA_HOME'), variable('CUDA_PATH'), '/usr/local/cuda'];
  return [...homes.flatMap((home) => (home === undefined || home === '' ? [] : [join(home, 'bin', tool)])), tool];
}
