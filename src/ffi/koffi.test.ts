import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import type { Ffi, NativeLibrary } from './ffi.ts';
import { loadFfi } from './koffi.ts';

const LIBC: Partial<Record<NodeJS.Platform, string>> = { linux: 'libc.so.6', darwin: 'libSystem.B.dylib' };
const libc = LIBC[process.platform];

function ffi(): Ffi {
  const loaded = loadFfi();
  if (loaded.ffi === undefined) throw new Error(loaded.reason);
  return loaded.ffi;
}

function library(): NativeLibrary {
  const { library: found, reasons } = ffi().load([libc ?? '']);
  if (found === undefined) throw new Error(reasons.join());
  return found;
}

describe.skipIf(libc === undefined)('the FFI by koffi', () => {
  it('calls functions with integers, views and addresses, and writes into views', () => {
    const memset = library().function('uint64_t memset(void *p, int32_t value, size_t bytes)');
    const bytes = new Uint8Array(200).subarray(100);
    memset?.(bytes, 7, 3);
    memset?.(Number(ffi().address(bytes)) + 10, 9, 2);
    expect([...bytes.subarray(0, 13)]).toEqual([7, 7, 7, 0, 0, 0, 0, 0, 0, 0, 9, 9, 0]);
  });

  it('gives addresses as numbers, and native memory as a buffer', () => {
    const bytes = new Uint8Array(new ArrayBuffer(128)).fill(3);
    const address = ffi().address(bytes);
    expect(typeof address).toBe('number');
    expect(ffi().address(bytes.subarray(5))).toBe(Number(address) + 5);
    const view = new Uint8Array(ffi().view(address, 128));
    bytes[127] = 4;
    expect([view[0], view[127], view.length]).toEqual([3, 4, 128]);
  });

  it('calls off-thread, where the event loop goes on', async () => {
    const strlen = library().function('size_t strlen(void *text)');
    expect(await strlen?.later(Buffer.from('tsamba\0'))).toBe(6);
  });

  it('knows when a library has no such function, and when no library is there', () => {
    expect(library().function('int32_t there_is_no_such_function(int32_t a)')).toBeUndefined();
    const { library: none, reasons } = ffi().load(['libtsamba-nowhere.so.1', 'libtsamba-nowhere.so']);
    expect(none).toBeUndefined();
    expect(reasons).toHaveLength(2);
    expect(reasons[0]).toMatch(/^libtsamba-nowhere\.so\.1: .*(No such file|cannot open|not found)/);
    expect(ffi().load(['libtsamba-nowhere.so', libc ?? '']).library?.name).toBe(libc);
  });

  it('refuses prototypes that make no sense', () => {
    expect(() => library().function('int32_t memset(nonsense p)')).toThrow(/nonsense/);
  });

  it('gives a reason where koffi has no binary for the platform', { timeout: 300_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tsamba-ffi-'));
    try {
      const broken = join(folder, 'node_modules/koffi');
      mkdirSync(broken, { recursive: true });
      writeFileSync(join(broken, 'index.js'), "throw new Error('Cannot find the native module\\nfor this platform')");
      const entry = join(folder, 'entry.ts');
      const koffi = join(import.meta.dirname, 'koffi.ts');
      writeFileSync(entry, `import { loadFfi } from ${JSON.stringify(koffi)};\nconsole.log(loadFfi().reason);`);
      const outfile = join(folder, 'bundle.mjs');
      await build({
        entryPoints: [entry],
        outfile,
        bundle: true,
        platform: 'node',
        format: 'esm',
        external: ['koffi'],
      });
      const said = execFileSync(process.execPath, [outfile], { encoding: 'utf8' });
      expect(said.trim()).toBe(
        'koffi, which calls native libraries, cannot be loaded (Cannot find the native module): npm install koffi',
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
