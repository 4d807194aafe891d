import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BinaryCache, cacheFolder, clearCaches } from './binary-cache.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tsamba-cache-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const bytes = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);
const agedBy = (path: string, days: number): void => {
  const seconds = Date.now() / 1000 - 86_400 * days;
  utimesSync(path, seconds, seconds);
};

describe('the cache of machine code', () => {
  it('is where the environment says, or off', () => {
    expect(cacheFolder('opencl', { TSAMBA_CACHE: '0' }, 'linux')).toBeUndefined();
    expect(cacheFolder('nvidia', { TSAMBA_CACHE_DIR: '/c' }, 'linux')).toBe(join('/c', 'nvidia'));
    expect(cacheFolder('opencl', { XDG_CACHE_HOME: '/x' }, 'linux')).toBe(join('/x', 'tsamba', 'opencl'));
    expect(cacheFolder('opencl', { LOCALAPPDATA: '/l' }, 'win32')).toBe(join('/l', 'tsamba', 'opencl'));
    expect(cacheFolder('hip', {}, 'darwin')).toMatch(/Library/);
  });

  it('gives back what was written, by device and text, and nothing that was damaged', () => {
    const cache = new BinaryCache(join(folder, 'deep'), 'device 1');
    expect(cache.read('text')).toBeUndefined();
    cache.write('text', () => Uint8Array.of(1, 2, 3));
    expect([...(cache.read('text') ?? [])]).toEqual([1, 2, 3]);
    expect(new BinaryCache(join(folder, 'deep'), 'device 2').read('text')).toBeUndefined();
    cache.write('other', () => undefined);
    expect(cache.read('other')).toBeUndefined();
    const [name = ''] = readdirSync(join(folder, 'deep'));
    const file = join(folder, 'deep', name);
    const whole = readFileSync(file);
    for (let cut = 0; cut < whole.length; cut++) {
      writeFileSync(file, whole.subarray(0, cut));
      expect(cache.read('text')).toBeUndefined();
      writeFileSync(
        file,
        Uint8Array.from(whole, (byte, k) => (k === cut ? byte ^ 1 : byte)),
      );
      expect(cache.read('text')).toBeUndefined();
    }
    // A folder that cannot be made costs nothing but time.
    writeFileSync(join(folder, 'file'), '');
    new BinaryCache(join(folder, 'file'), 'x').write('text', () => Uint8Array.of(1));
    new BinaryCache(join(folder, 'file', 'deeper'), 'x').write('text', () => Uint8Array.of(1));
  });

  it.runIf(process.platform === 'linux')('does not hang where a folder takes no folders', () => {
    const cache = new BinaryCache('/proc/tsamba/opencl', 'x');
    cache.write('text', () => Uint8Array.of(1));
    expect(cache.read('text')).toBeUndefined();
  });

  it('takes what is no file for nothing', () => {
    const cache = new BinaryCache(folder, 'x');
    cache.write('text', () => Uint8Array.of(1));
    const [name = ''] = readdirSync(folder);
    rmSync(join(folder, name));
    mkdirSync(join(folder, name));
    expect(cache.read('text')).toBeUndefined();
    cache.write('text', () => Uint8Array.of(1));
    expect(readdirSync(folder)).toEqual([name]);
    rmSync(join(folder, name), { recursive: true });
    symlinkSync(join(folder, name), join(folder, name));
    expect(cache.read('text')).toBeUndefined();
    cache.write('text', () => Uint8Array.of(2));
    expect(cache.read('text')).toEqual(Uint8Array.of(2));
    // Gone in the meantime: made again.
    rmSync(folder, { recursive: true });
    expect(cache.read('text')).toBeUndefined();
    cache.write('text', () => Uint8Array.of(3));
    expect(cache.read('text')).toEqual(Uint8Array.of(3));
  });

  it('removes what was not used for longest, and what killed processes left', () => {
    const cache = new BinaryCache(folder, 'device', { mostBytes: 4000 });
    const stale = join(folder, `${'0'.repeat(64)}.bin.77-0`);
    const fresh = join(folder, `${'1'.repeat(64)}.bin.78-0`);
    const foreign = join(folder, 'notes.txt');
    for (const path of [stale, fresh, foreign]) writeFileSync(path, 'x');
    for (const path of [stale, foreign]) agedBy(path, 3);
    cache.write('first', () => bytes(100, 1));
    const first = readdirSync(folder).find((name) => name.endsWith('.bin')) ?? '';
    for (let k = 0; k < 300; k++) {
      // The first is used every time, though made before all others.
      agedBy(join(folder, first), 2);
      expect(cache.read('first')).toHaveLength(100);
      cache.write(`program ${k}`, () => Uint8Array.from({ length: 100 }, (_, i) => k * (i + 1)));
    }
    const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(sizes.reduce((a, b) => a + b)).toBeLessThan(4000 * 3);
    expect(cache.read('first')).toHaveLength(100);
    expect(cache.read('program 0')).toBeUndefined();
    expect(cache.read('program 299')).toHaveLength(100);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining([`${'1'.repeat(64)}.bin.78-0`, 'notes.txt']));
    expect(readdirSync(folder)).not.toContain(`${'0'.repeat(64)}.bin.77-0`);
  });

  it('is emptied of its own files only', () => {
    const env = { TSAMBA_CACHE_DIR: folder };
    for (const kind of ['nvidia', 'opencl', 'hip'] as const) {
      const cache = new BinaryCache(cacheFolder(kind, env) ?? '', 'device');
      cache.write('text', () => Uint8Array.of(1));
      writeFileSync(join(folder, kind, 'mine.bin'), '');
      clearCaches(env);
      expect(cache.read('text')).toBeUndefined();
      expect(readdirSync(join(folder, kind))).toEqual(['mine.bin']);
    }
    clearCaches({ TSAMBA_CACHE_DIR: join(folder, 'nowhere') });
    clearCaches({ TSAMBA_CACHE: '0' });
  });

  it.skipIf(process.platform === 'win32')('takes no code from a folder that others may write to', () => {
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const cache = new BinaryCache(open, 'device');
    cache.write('text', () => Uint8Array.of(1));
    expect(cache.read('text')).toBeUndefined();
    expect(readdirSync(open)).toEqual([]);
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]?.[0]).toContain(`chmod 700`);
  });

  it('is right while processes write the same, and one is killed in the middle', async () => {
    const module = fileURLToPath(new URL('binary-cache.ts', import.meta.url));
    const body = `
      const { BinaryCache } = await import(${JSON.stringify(module)});
      const cache = new BinaryCache(${JSON.stringify(folder)}, 'device');
      let wrong = 0;
      const end = Date.now() + 1000;
      while (Date.now() < end) {
        for (let k = 0; k < 4; k++) {
          cache.write('program ' + k, () => new Uint8Array(200_000).fill(k));
          const got = cache.read('program ' + k);
          if (got === undefined || got.length !== 200_000 || got.some((v) => v !== k)) wrong++;
        }
      }
      console.log(wrong);`;
    const start = () => promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', body]);
    const runs = [start(), start(), start()];
    const killed = runs[2]?.child;
    setTimeout(() => killed?.kill('SIGKILL'), 600 + 300 * Math.random());
    const [first, second, third] = await Promise.allSettled(runs);
    for (const run of [first, second]) expect(run).toMatchObject({ status: 'fulfilled', value: { stdout: '0\n' } });
    expect(third?.status).toBe('rejected');
    const cache = new BinaryCache(folder, 'device');
    for (let k = 0; k < 4; k++) expect(cache.read(`program ${k}`)?.every((v) => v === k)).toBe(true);
  });
});
