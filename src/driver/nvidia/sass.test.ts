import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cuda, type f32, type Vec } from '../../index.ts';

let folder = '';
beforeEach(() => {
  vi.stubEnv('TSAMBA_DEVICE', 'cpu');
  folder = mkdtempSync(join(tmpdir(), 'tsamba-sass-'));
  mkdirSync(join(folder, 'bin'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function tool(name: string, script: string): void {
  const path = join(folder, 'bin', name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

function sassOf(options: { lineInfo?: boolean } = {}, arch?: string): string {
  const scale = cuda.jit(
    (y: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = 2 * i;
    },
    { ...options, signature: 'void(f32[::1])' },
  );
  return scale.inspect(arch === undefined ? { target: 'sass' } : { target: 'sass', arch });
}

// Tools that say how they were called stand for the toolkit: it is on GPU hosts.
describe.skipIf(process.platform === 'win32')('instructions of NVIDIA GPUs', () => {
  it('are what the disassembler says of what the assembler made', () => {
    vi.stubEnv('CUDA_HOME', folder);
    tool(
      'ptxas',
      'while [ "$1" != -o ]; do args="$args $1"; last=$1; shift; done; { echo "$args"; cat "$last"; } > "$2"',
    );
    tool('nvdisasm', 'for last; do :; done; echo "nvdisasm $*"; cat "$last"');
    expect(sassOf()).toMatch(/^nvdisasm -c \S+\n -arch=sm_90 \S+kernel.ptx\n[\s\S]+\.visible \.entry/);
    expect(sassOf({ lineInfo: true }, 'sm_80')).toMatch(
      /^nvdisasm -c -g \S+\n -arch=sm_80 -lineinfo \S+\n[\s\S]+\.loc 1 /,
    );
  });

  it('say what is missing, and what the assembler does not accept', () => {
    vi.stubEnv('CUDA_HOME', join(folder, 'nowhere'));
    vi.stubEnv('CUDA_PATH', '');
    vi.stubEnv('PATH', '');
    expect(() => sassOf()).toThrow(expect.objectContaining({ code: 'E_NO_DISASSEMBLER' }));
    vi.stubEnv('CUDA_HOME', folder);
    tool('ptxas', '/bin/echo "line 3: bad" >&2; exit 1');
    expect(() => sassOf()).toThrow(/line 3: bad\n {2}help: an architecture/);
    expect(() => sassOf({}, 'gfx90a')).toThrow(expect.objectContaining({ code: 'E_OPTION' }));
  });
});
