/** Copying by threads: host memory to host memory, through a ring that the test empties or fills as a device would. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { afterEach, describe, expect, it } from 'vitest';
import { type FfiOrReason, loadFfi } from '../../../ffi/koffi.ts';
import { type CopyJob, CopyThreads, nativeMemcpy } from './copy-threads.ts';

const found: FfiOrReason = loadFfi();
const ffi = 'ffi' in found ? found.ffi : undefined;

describe.skipIf(ffi === undefined)('copying threads', () => {
  let threads: CopyThreads | undefined;
  afterEach(async () => {
    const workers = [...(threads?.workers ?? [])];
    threads?.close();
    threads = undefined;
    await Promise.all(workers.map((worker) => worker.terminate()));
  });

  const open = (count: number): CopyThreads => {
    if (ffi === undefined) throw new Error('no FFI');
    const native = nativeMemcpy(ffi);
    if (native === undefined) throw new Error('no C library');
    threads = new CopyThreads(native.memcpy, native.library);
    threads.start(count);
    return threads;
  };
  const address = (view: Uint8Array): number => Number(ffi?.address(view));

  const PIECE = 4096;
  const job = (user: Uint8Array, ring: Uint8Array, toRing: boolean, limit: number): CopyJob => ({
    user: address(user),
    bytes: user.length,
    ring: address(ring),
    toRing,
    slots: 3,
    pieceBytes: PIECE,
    piecesAChunk: 4,
    limit,
  });
  const CHUNK = 4 * PIECE;

  /** Fills the ring chunk by chunk and empties it here. */
  function upload(pool: CopyThreads, user: Uint8Array, help: boolean): Uint8Array {
    const ring = new Uint8Array(3 * CHUNK);
    const out = new Uint8Array(user.length);
    pool.begin(job(user, ring, true, 3 * 4));
    const chunks = Math.ceil(user.length / CHUNK);
    for (let chunk = 0; chunk < chunks; ) {
      const bytes = Math.min(CHUNK, user.length - chunk * CHUNK);
      const slot = chunk % 3;
      if (pool.takeDone(slot, Math.ceil(bytes / PIECE))) {
        out.set(ring.subarray(slot * CHUNK, slot * CHUNK + bytes), chunk * CHUNK);
        chunk++;
        pool.allow((chunk + 3) * 4);
      } else if (!(help && pool.help()) && !pool.pause(1)) throw new Error('a worker has gone away');
    }
    pool.end();
    return out;
  }

  function download(pool: CopyThreads, from: Uint8Array): Uint8Array {
    const ring = new Uint8Array(3 * CHUNK);
    const user = new Uint8Array(from.length);
    pool.begin(job(user, ring, false, 0));
    const chunks = Math.ceil(from.length / CHUNK);
    let arrived = 0;
    for (let emptied = 0; emptied < chunks; ) {
      const bytes = Math.min(CHUNK, from.length - emptied * CHUNK);
      if (arrived < chunks && arrived < emptied + 3) {
        ring.set(from.subarray(arrived * CHUNK, (arrived + 1) * CHUNK), (arrived % 3) * CHUNK);
        pool.allow(++arrived * 4);
      } else if (pool.takeDone(emptied % 3, Math.ceil(bytes / PIECE))) emptied++;
      else if (!pool.help() && !pool.pause(1)) throw new Error('a worker has gone away');
    }
    pool.end();
    return user;
  }

  const noise = (length: number): Uint8Array => Uint8Array.from({ length }, (_, k) => (k * 31 + (k >> 7)) & 255);

  it('move every byte, both ways, whatever the size', () => {
    const pool = open(2);
    expect(pool.awaitReady(2, 10_000)).toBe(2);
    for (const size of [1, PIECE - 1, PIECE, CHUNK, CHUNK + 1, 3 * CHUNK, 40 * CHUNK + 12_345]) {
      const bytes = noise(size);
      expect(Buffer.compare(upload(pool, bytes, true), bytes)).toBe(0);
      expect(Buffer.compare(download(pool, bytes), bytes)).toBe(0);
    }
  });

  it('do it alone, when the caller does not help', () => {
    const pool = open(2);
    expect(pool.awaitReady(2, 10_000)).toBe(2);
    const bytes = noise(20 * CHUNK);
    expect(Buffer.compare(upload(pool, bytes, false), bytes)).toBe(0);
  });

  it('are not waited for while they start', () => {
    const bytes = noise(5 * CHUNK);
    expect(Buffer.compare(upload(open(2), bytes, true), bytes)).toBe(0);
  });

  it('that were terminated are found out, and the caller goes on without them', async () => {
    const pool = open(1);
    expect(pool.awaitReady(1, 10_000)).toBe(1);
    await pool.workers[0]?.terminate();
    const bytes = noise(5 * CHUNK);
    expect(() => upload(pool, bytes, false)).toThrow(/gone away/);
    pool.end();
    expect(Buffer.compare(upload(pool, bytes, true), bytes)).toBe(0);
  });

  it('do not keep a process alive, nor a worker thread of the user', () => {
    const root = join(import.meta.dirname, '../../../..');
    const program = `
      import { isMainThread, Worker } from 'node:worker_threads';
      import { loadFfi } from './src/ffi/koffi.ts';
      import { CopyThreads, nativeMemcpy } from './src/driver/cuda-api/copies/copy-threads.ts';
      if (isMainThread && process.argv[2] === 'worker') {
        new Worker(new URL(import.meta.url));
      } else {
        const { memcpy, library } = nativeMemcpy(loadFfi().ffi);
        const threads = new CopyThreads(memcpy, library);
        threads.start(2);
        console.log(threads.awaitReady(2, 10000), 'ready');
      }
    `;
    const folder = mkdtempSync(join(root, 'node_modules/.tsamba-'));
    try {
      const outfile = join(folder, 'program.mjs');
      const stdin = { contents: program, resolveDir: root, loader: 'ts' } as const;
      buildSync({ stdin, outfile, bundle: true, platform: 'node', format: 'esm', external: ['koffi'] });
      for (const mode of ['main', 'worker']) {
        const { stdout, status } = spawnSync(process.execPath, [outfile, mode], { encoding: 'utf8', timeout: 20_000 });
        expect([mode, stdout, status]).toEqual([mode, '2 ready\n', 0]);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
