/**
 * NCCL's calls, over a library of a few lines of C in its place, which notes what it is called with: order and width of arguments, the id by value, groups,
 * errors and their words. The memory of the CPU device stands for that of a GPU; nothing reads it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadFfi } from '../../ffi/koffi.ts';
import { cuda, f32, i32 } from '../../index.ts';
import { Communicator } from '../communicator.ts';
import { CommunicatorError } from '../errors.ts';
import { grouped } from '../group.ts';
import { localLinks } from '../links/link.ts';
import { initAllNative, initNative, uniqueId } from './init.ts';
import { bindNccl, libraryNames, type Nccl } from './library.ts';

const SOURCE = `
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef struct { char bytes[128]; } Id;
static char said[65536];
static int async_error, next_result;
#define NOTE(...) (snprintf(said + strlen(said), sizeof said - strlen(said), __VA_ARGS__), next_result)
const char *take(void) { static char out[65536]; strcpy(out, said); said[0] = 0; return out; }
void fail_later(int error) { async_error = error; }
void fail_now(int error) { next_result = error; }
int ncclGetVersion(int *v) { *v = 22809; return 0; }
int ncclGetUniqueId(Id *id) { for (int k = 0; k < 128; k++) id->bytes[k] = (char)(k * 3); return 0; }
int ncclCommInitRank(uint64_t *comm, int n, Id id, int rank) {
  int right = 1;
  for (int k = 0; k < 128; k++) right &= id.bytes[k] == (char)(k * 3);
  *comm = 0x7f0000001000 + rank;
  return NOTE("init %d/%d id %d;", rank, n, right);
}
int ncclCommInitAll(uint64_t *comms, int n, int *devs) {
  for (int k = 0; k < n; k++) { comms[k] = 100 + k; NOTE("dev %d;", devs[k]); }
  return 0;
}
int ncclCommDestroy(uint64_t c) { return NOTE("destroy %llx;", (long long)c); }
int ncclCommAbort(uint64_t c) { return NOTE("abort %llx;", (long long)c); }
int ncclCommGetAsyncError(uint64_t c, int *e) { *e = async_error; return 0; }
int ncclCommCount(uint64_t c, int *n) { *n = 5; return 0; }
int ncclCommUserRank(uint64_t c, int *n) { *n = 4; return 0; }
int ncclCommSplit(uint64_t c, int color, int key, uint64_t *out, uint64_t config) { *out = 77; return NOTE("split %d %d;", color, key); }
int ncclGroupStart(void) { return NOTE("("); }
int ncclGroupEnd(void) { return NOTE(")"); }
const char *ncclGetErrorString(int r) { return r == 6 ? "remote process exited" : "invalid argument"; }
const char *ncclGetLastError(uint64_t c) { return "socket closed"; }
int ncclAllReduce(uint64_t s, uint64_t r, size_t n, int t, int op, uint64_t c, uint64_t on) { return NOTE("allReduce same %d n %zu t %d op %d c %llx on %llx;", s == r, n, t, op, (long long)c, (long long)on); }
int ncclReduce(uint64_t s, uint64_t r, size_t n, int t, int op, int root, uint64_t c, uint64_t on) { return NOTE("reduce n %zu t %d op %d root %d c %llx;", n, t, op, root, (long long)c); }
int ncclBroadcast(uint64_t s, uint64_t r, size_t n, int t, int root, uint64_t c, uint64_t on) { return NOTE("broadcast same %d n %zu t %d root %d;", s == r, n, t, root); }
int ncclAllGather(uint64_t s, uint64_t r, size_t n, int t, uint64_t c, uint64_t on) { return NOTE("allGather n %zu t %d;", n, t); }
int ncclReduceScatter(uint64_t s, uint64_t r, size_t n, int t, int op, uint64_t c, uint64_t on) { return NOTE("reduceScatter n %zu t %d op %d;", n, t, op); }
int ncclSend(uint64_t s, size_t n, int t, int peer, uint64_t c, uint64_t on) { return NOTE("send n %zu t %d to %d;", n, t, peer); }
int ncclRecv(uint64_t r, size_t n, int t, int peer, uint64_t c, uint64_t on) { return NOTE("recv n %zu t %d from %d;", n, t, peer); }
`;

const folder = mkdtempSync(join(tmpdir(), 'tsamba-nccl-stub-'));
let nccl: Nccl;
let take: () => string;
let failLater: (error: number) => void;
let failNow: (error: number) => void;

function hasCompiler(): boolean {
  try {
    execFileSync('gcc', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('NCCL is looked for where TSAMBA_NCCL_LIBRARY says, else in the system and in Python', () => {
  expect(libraryNames({ TSAMBA_NCCL_LIBRARY: '/opt/libnccl.so.2' })).toEqual(['/opt/libnccl.so.2']);
  expect(libraryNames({}).slice(0, 1)).toEqual(['libnccl.so.2']);
});

describe.skipIf(process.platform !== 'linux' || !hasCompiler())('NCCL by FFI', () => {
  beforeAll(() => {
    const file = join(folder, 'stub.c');
    writeFileSync(file, SOURCE);
    execFileSync('gcc', ['-shared', '-fPIC', '-w', '-o', join(folder, 'libnccl.so.2'), file]);
    const { ffi, reason } = loadFfi();
    if (ffi === undefined) throw new Error(reason);
    const { library } = ffi.load([join(folder, 'libnccl.so.2')]);
    if (library === undefined) throw new Error('the stub does not load');
    nccl = bindNccl(ffi, library);
    take = library.function('const char *take(void)') as () => string;
    failLater = library.function('void fail_later(int)') as (error: number) => void;
    failNow = library.function('void fail_now(int)') as (error: number) => void;
    cuda.selectDevice('cpu');
  });

  const communicator = (rank: number, size: number, timeout = 60_000, link = localLinks(size)[rank]): Communicator => {
    const context = cuda.currentContext();
    const native = initNative({ rank, size, id: uniqueId(nccl), link, timeout, context }, nccl);
    return new Communicator(native, context);
  };

  it('passes each call on with its arguments in their places', async () => {
    expect(nccl.version).toBe(22_809);
    const comm = communicator(1, 3);
    expect(take()).toBe('init 1/3 id 1;');
    const x = cuda.deviceArray(6, f32);
    const y = cuda.deviceArray(2, f32);
    await comm.allReduce(x, { op: 'avg' });
    await comm.allReduce(x.view(i32), cuda.deviceArray(6, i32), { op: 'max' });
    await comm.reduce(x, { root: 2, op: 'min' });
    await comm.broadcast(x, { root: 2 });
    await comm.allGather(y, x);
    await comm.reduceScatter(x, y, { op: 'prod' });
    expect(take().split(';')).toEqual([
      'allReduce same 1 n 6 t 7 op 4 c 7f0000001001 on 0',
      'allReduce same 0 n 6 t 2 op 2 c 7f0000001001 on 0',
      'reduce n 6 t 7 op 3 root 2 c 7f0000001001',
      'broadcast same 1 n 24 t 1 root 2',
      'allGather n 8 t 1',
      'reduceScatter n 2 t 7 op 1',
      '',
    ]);
    await comm.allToAll(x, cuda.deviceArray(6, f32));
    await comm.gather(y, x, { root: 1 });
    await comm.scatter(undefined, y, { root: 0 });
    const pair = 'n 8 t 1';
    expect(take()).toBe(
      `(${[0, 1, 2].map((k) => `send ${pair} to ${k};recv ${pair} from ${k};`).join('')})` +
        `(${[0, 1, 2].map((k) => `recv ${pair} from ${k};`).join('')}send ${pair} to 1;)(recv ${pair} from 0;)`,
    );
    const part = await comm.split({ color: 3, key: 8 });
    expect([part?.rank, part?.size, take()]).toEqual([4, 5, 'split 3 8;']);
    await comm.dispose();
    expect(take()).toBe('destroy 7f0000001001;');
    await expect(comm.allReduce(x)).rejects.toThrow('was disposed');
  });

  it('makes the calls of a group as one, of several ranks in one thread too', async () => {
    const context = cuda.currentContext();
    const comms = initAllNative([context, context], 60_000, nccl).map((native) => new Communicator(native, context));
    expect(take()).toBe('dev 0;dev 0;');
    const x = cuda.deviceArray(1, f32);
    let resolved = 0;
    const done = grouped(() => {
      const calls = comms.map((comm) => comm.send(x, 0).then(() => resolved++));
      return Promise.all(calls);
    });
    expect(resolved).toBe(0);
    await done;
    expect(take()).toBe('(send n 4 t 1 to 0;send n 4 t 1 to 0;)');
    await Promise.all(comms.map((comm) => comm.dispose()));
    take();
  });

  it('says what NCCL says where a call fails', async () => {
    const comm = communicator(0, 2);
    failNow(4);
    await expect(comm.allReduce(cuda.deviceArray(1, f32))).rejects.toThrow(
      'ncclAllReduce failed: invalid argument (ncclResult 4); socket closed',
    );
    failNow(0);
    take();
  });

  it('aborts and tells who waits for the device when something goes wrong aside', async () => {
    const comm = communicator(0, 2);
    await comm.allReduce(cuda.deviceArray(1, f32));
    take();
    failLater(6);
    const until = Date.now() + 10_000;
    let said = '';
    while (!said.includes('abort') && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      said += take();
    }
    failLater(0);
    expect(said).toBe('abort 7f0000001000;');
    expect(() => cuda.synchronize()).toThrow('rank 0: a collective failed: remote process exited');
    await expect(comm.allReduce(cuda.deviceArray(1, f32))).rejects.toThrow(CommunicatorError);
  });

  it('ends later calls with the name of a rank that was lost', async () => {
    const links = localLinks(2);
    const comm = communicator(0, 2, 60_000, links[0]);
    links[1]?.abort('a test');
    await expect(comm.allReduce(cuda.deviceArray(1, f32))).rejects.toThrow('rank 1 aborted: a test');
    take();
  });
});
