/**
 * The NVIDIA driver below the public interface: memory, host memory, streams, events, launches, sharing.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import type { Kernel } from '../../src/compiler/ir/ops.ts';
import { ptxPipeline } from '../../src/driver/nvidia/compile.ts';
import { NvidiaDriver } from '../../src/driver/nvidia/device.ts';
import { openNvidia } from '../../src/driver/nvidia/index.ts';
import { cuda, f32, f64, type i32, type i64, type u32, type u64, type Vec } from '../../src/index.ts';
import { cudaDevices } from '../../src/memory/devices.ts';
import { same } from '../../testsuite/assert.ts';
import { fails, type GpuModule, skip } from './suite.ts';

function driver(): NvidiaDriver {
  const { driver: open } = cudaDevices.currentContext();
  if (!(open instanceof NvidiaDriver)) skip('this is no NVIDIA device');
  return open;
}

const BYTES = 4096;
const pattern = Uint8Array.from({ length: BYTES }, (_, i) => (i * 7) & 255);

function read(device: NvidiaDriver, pointer: number | bigint, bytes = BYTES): Uint8Array {
  const out = new Uint8Array(bytes);
  device.copyToHost(out, pointer);
  return out;
}

function information(): string {
  const { info } = driver();
  const { limits } = info;
  same(limits.warpSize, 32);
  same(limits.maxThreadsPerBlock >= 512 && limits.maxGridDim[0] === 2 ** 31 - 1, true, 'limits');
  same(/^GPU-[0-9a-f-]{36}$/.test(info.uuid ?? ''), true, 'uuid');
  same(/^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.0$/.test(info.pciBusId ?? ''), true, 'bus id');
  return `${info.name}, ${info.driverVersion}, ${limits.maxSharedBytesPerBlock} bytes of shared memory`;
}

function memory(): string {
  const device = driver();
  const pointers = Array.from({ length: 100 }, (_, i) => Number(device.allocate(1 + i * 1000)));
  same(pointers.every((p) => p % 256 === 0) && new Set(pointers).size === 100, true, 'addresses');
  for (const p of pointers) device.free(p);
  fails(() => device.free(pointers[0] ?? 0), 'E_INVALID_POINTER');
  fails(() => device.allocate(2 ** 45), 'E_OUT_OF_MEMORY');
  const rounds = 20_000;
  const began = performance.now();
  for (let k = 0; k < rounds; k++) device.free(device.allocate(BYTES));
  return `${(((performance.now() - began) / rounds) * 1000).toFixed(2)} µs for allocate and free`;
}

/** What the pool keeps is given back when memory of another kind needs it. */
function trimming(): string {
  const device = driver();
  const { free } = device.memoryInfo();
  const most = Math.floor(free * 0.6);
  device.free(device.allocate(most));
  device.synchronize();
  const { pooled } = device.memoryInfo();
  same(pooled >= most, true, `the pool keeps what was freed: ${pooled} of ${most}`);
  const shared = device.allocate(most, undefined, true);
  same(device.memoryInfo().pooled < most, true, 'the pool was trimmed');
  device.free(shared);
  return `${(most / 2 ** 30).toFixed(1)} GiB`;
}

function hostMemory(): void {
  const device = driver();
  const target = device.allocate(BYTES);
  for (const kind of ['pinned', 'mapped', 'managed'] as const) {
    const memory = device.allocateHost(BYTES, { kind, portable: true });
    memory.bytes.set(pattern);
    if (memory.pointer === undefined) device.copyToDevice(target, memory.bytes);
    else device.copyOnDevice(target, memory.pointer, BYTES);
    same(Buffer.compare(read(device, target), pattern), 0, kind);
    device.freeHost(memory);
    fails(() => device.freeHost(memory), 'E_INVALID_HANDLE');
  }
  const combined = device.allocateHost(BYTES, { kind: 'pinned', writeCombined: true });
  combined.bytes.fill(5);
  device.copyToDevice(target, combined.bytes);
  same(read(device, target)[BYTES - 1], 5);
  device.freeHost(combined);
  device.free(target);
}

function registered(): void {
  const device = driver();
  const bytes = new Uint8Array(1 << 20).fill(3);
  const memory = device.registerHost(bytes, true);
  const target = device.allocate(BYTES);
  device.copyOnDevice(target, memory.pointer ?? 0, BYTES);
  same(read(device, target)[100], 3);
  fails(() => device.registerHost(bytes.subarray(0, BYTES), false), 'E_DRIVER');
  device.unregisterHost(memory);
  // After a failure and an unregistration nothing is left: the same memory can be registered again.
  device.unregisterHost(device.registerHost(bytes, false));
  device.free(target);
}

/** A process with nothing but koffi sees the bytes, and writes some. */
function sharing(): void {
  const device = driver();
  if (!device.info.features.ipc) skip('no IPC here');
  const pointer = device.allocate(BYTES, undefined, true);
  device.copyToDevice(pointer, pattern);
  const handle = Buffer.from(device.share(pointer)).toString('hex');
  const koffi = createRequire(import.meta.url).resolve('koffi');
  const script = `
    const koffi = require(${JSON.stringify(koffi)});
    const cu = koffi.load('libcuda.so.1');
    koffi.struct('H', { b: koffi.array('uint8_t', 64, 'Typed') });
    const f = (p) => cu.func(p);
    const ok = (r) => { if (r !== 0) throw new Error('result ' + r); };
    const out = [0];
    ok(f('int cuInit(uint32_t)')(0));
    ok(f('int cuDevicePrimaryCtxRetain(_Out_ uint64_t *, int)')(out, 0));
    ok(f('int cuCtxSetCurrent(uint64_t)')(out[0]));
    ok(f('int cuIpcOpenMemHandle_v2(_Out_ uint64_t *, H, uint32_t)')(out, { b: Buffer.from('${handle}', 'hex') }, 1));
    const bytes = new Uint8Array(${BYTES});
    ok(f('int cuMemcpyDtoH_v2(void *, uint64_t, size_t)')(bytes, out[0], bytes.length));
    console.log(bytes[0], bytes[1], bytes[4095]);
    ok(f('int cuMemcpyHtoD_v2(uint64_t, void *, size_t)')(out[0], Uint8Array.of(9, 8), 2));
    ok(f('int cuIpcCloseMemHandle(uint64_t)')(out[0]));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  same(stdout.trim() + stderr, `${pattern[0]} ${pattern[1]} ${pattern[4095]}`);
  same(read(device, pointer).subarray(0, 3).join(), `9,8,${pattern[2]}`);
  // A process cannot open what it shares itself.
  fails(() => device.openShared(device.share(pointer)), 'E_DRIVER');
  device.free(pointer);
  const pooled = device.allocate(BYTES);
  fails(() => device.share(pooled), 'E_IPC');
  device.free(pooled);
}

/** Runs for about so many milliseconds at 2 GHz: nothing but a chain of dependent steps. */
const spin = cuda.jit((out: Vec<i32>, steps: number) => {
  let v = cuda.threadIdx.x;
  for (let i = 0; i < steps; i++) v = v * 1_664_525 + 1_013_904_223 + out[0];
  out[1 + cuda.threadIdx.x] = v;
});
const STEPS = 5_000_000;

function streams(): string {
  const device = driver();
  const scratch = cuda.toDevice(new Int32Array(64));
  const s = cuda.stream();
  const [start, end] = [device.createEvent(true), device.createEvent(true)];
  same(device.queryEvent(end), true, 'an event that was never recorded has been reached');
  fails(() => device.elapsedTime(start, end), 'E_INVALID_HANDLE');
  spin.launch({ grid: 1, block: 1, stream: s }, scratch, 10);
  s.synchronize();
  device.recordEvent(start, s.handle);
  spin.launch({ grid: 1, block: 1, stream: s }, scratch, STEPS);
  device.recordEvent(end, s.handle);
  same([s.query(), device.queryEvent(end)].join(), 'false,false', 'while the kernel runs');
  // Another stream waits for the mark, and does not block the host.
  const other = device.createStream();
  device.waitEvent(end, other);
  same(device.queryStream(other), false, 'the waiting stream');
  device.synchronizeStream(other);
  same([s.query(), device.queryEvent(end)].join(), 'true,true', 'afterwards');
  const ms = device.elapsedTime(start, end);
  same(ms > 1 && ms < 1000, true, `${ms} ms`);
  for (const event of [start, end]) device.destroyEvent(event);
  fails(() => device.queryEvent(end), 'E_INVALID_HANDLE');
  device.destroyStream(other);
  fails(() => device.queryStream(other), 'E_INVALID_HANDLE');
  s.dispose();
  scratch.dispose();
  return `${ms.toFixed(2)} ms`;
}

/** The default stream waits for created streams, and they for it; a destroyed stream still does its work. */
function defaultStreams(): void {
  const device = driver();
  const scratch = cuda.toDevice(new Int32Array(64));
  const s = device.createStream();
  const legacy = device.builtinStream('legacy');
  const own = device.builtinStream('per-thread');
  const external = device.externalStream(s.address ?? 0n);
  same(external.address, s.address);
  spin.launch({ grid: 1, block: 1 }, scratch, 10);
  const event = device.createEvent(false);
  for (const stream of [s, external, own]) {
    spin.launch({ grid: 1, block: 1 }, scratch, STEPS);
    device.recordEvent(event, stream);
    same(device.queryEvent(event), false, 'a stream waits for the default stream');
    device.synchronizeStream(legacy);
    device.synchronizeStream(stream);
    same(device.queryEvent(event), true);
  }
  device.synchronizeStream(own);
  device.destroyStream(s);
  device.destroyEvent(event);
  scratch.dispose();
}

function sharedMemory(): string {
  const { maxSharedBytesPerBlock } = driver().info.limits;
  const reverse = cuda.jit((out: Vec<f32>) => {
    const tile = cuda.shared.array(0, f32);
    const t = cuda.threadIdx.x;
    const n = out.length;
    for (let i = t; i < n; i += cuda.blockDim.x) tile[i] = out[i];
    cuda.syncThreads();
    for (let i = t; i < n; i += cuda.blockDim.x) out[i] = tile[n - 1 - i];
  });
  for (const bytes of [1024, 49_152, 65_536, maxSharedBytesPerBlock]) {
    const n = bytes / 4;
    const a = cuda.toDevice(Float32Array.from({ length: n }, (_, i) => i));
    reverse.launch({ grid: 1, block: 256, sharedBytes: bytes }, a);
    same(
      [...a.copyToHost()].every((v, i) => v === n - 1 - i),
      true,
      `${bytes} bytes`,
    );
    a.dispose();
  }
  return `${maxSharedBytesPerBlock} bytes`;
}

/** Every type of parameter, and enough of them to need padding between. */
function parameters(): void {
  const kernel = cuda.jit(
    (out: Vec<f64>, flag: boolean, i: i32, d: f64, u: u32, l: i64, f: f32, w: u64, last: boolean) => {
      out[0] = flag ? 1 : 0;
      out[1] = i;
      out[2] = d;
      out[3] = u;
      out[4] = Number(l);
      out[5] = f;
      out[6] = Number(w);
      out[7] = last ? 1 : 0;
    },
    { signature: 'void(f64[::1], bool, i32, f64, u32, i64, f32, u64, bool)' },
  );
  const out = cuda.deviceArray(8, f64);
  kernel.launch({ grid: 1, block: 1 }, out, true, -7, 0.1, 4_000_000_000, -(2n ** 40n), 1.5, 2n ** 52n, false);
  same([...out.copyToHost()].join(), [1, -7, 0.1, 4e9, -(2 ** 40), 1.5, 2 ** 52, 0].join());
  kernel.launch({ grid: 1, block: 1 }, out, false, 7, -0.1, 1, 5, -1.5, 3, true);
  same([...out.copyToHost()].join(), [0, 7, -0.1, 1, 5, -1.5, 3, 1].join());
  out.dispose();
}

function occupancy(): string {
  const device = driver();
  const kernel = loaded(device);
  const { registers, maxThreadsPerBlock } = kernel.attributes;
  same(registers > 0 && maxThreadsPerBlock === 1024, true, `${registers} registers, ${maxThreadsPerBlock} threads`);
  const block = kernel.suggestBlock(0, 1024);
  same(block % 32 === 0 && block >= 32, true, `suggested ${block}`);
  same(kernel.suggestBlock(0, 64) <= 64, true, 'no more than the limit');
  same(kernel.activeBlocks(256, 0) >= 4, true, 'active blocks');
  same(kernel.activeBlocks(256, device.info.limits.maxSharedBytesPerBlock), 1, 'of all shared memory');
  kernel.unload();
  kernel.unload();
  fails(() => kernel.launch({ grid: [1, 1, 1], block: [1, 1, 1], sharedBytes: 0 }, [], undefined), 'E_UNLOADED');
  return `${registers} registers, blocks of ${block}`;
}

function loaded(device: NvidiaDriver): ReturnType<NvidiaDriver['load']> {
  const pos = { source: { text: '', name: 'empty' }, start: 0, end: 0 } as unknown as Kernel['pos'];
  return device.load({
    kernel: {
      name: 'empty',
      params: [],
      arrays: [],
      vars: [],
      body: [],
      indexBits: 32,
      checked: false,
      contract: true,
      fastMath: false,
      pos,
    },
  });
}

/** A device of its own whose pipeline writes nonsense. */
function rejectedPtx(): string {
  const device = openNvidia(0, {
    pipeline: {
      compile: (...args) => {
        const module = ptxPipeline.compile(...args);
        return { ...module, text: module.text.replace(/\bret;/, 'frobnicate.f32 %f1;\n  ret;') };
      },
    },
  });
  try {
    const error = fails(() => loaded(device), 'E_PTX_REJECTED');
    for (const word of ['empty', 'frobnicate', 'line']) same(error.message.includes(word), true, error.message);
    return error.message.split('\n').slice(0, 3).join(' | ');
  } finally {
    device.close();
  }
}

/** Several contexts of ours in one process, closed in any order, do not disturb each other. */
function closing(): void {
  const [one, two] = [openNvidia(0), openNvidia(0)];
  const p = two.allocate(BYTES);
  one.allocate(BYTES);
  one.createStream();
  one.close();
  one.close();
  fails(() => one.allocate(1), 'E_DEVICE_CLOSED');
  two.copyToDevice(p, pattern);
  same(Buffer.compare(read(two, p), pattern), 0);
  two.close();
  driver().synchronize();
}

function launchCost(): string {
  const device = driver();
  const saxpy = cuda.jit((out: Vec<f32>, x: Vec<f32>, y: Vec<f32>, a: f32) => {
    const i = cuda.grid(1);
    if (i < out.length) out[i] = a * x[i] + y[i];
  });
  const arrays = [0, 1, 2].map(() => cuda.toDevice(new Float32Array(1024)));
  const shape = { grid: 4, block: 256 };
  const [z, x, y] = arrays;
  const api = perCall(() => saxpy.launch(shape, z, x, y, 2));
  const kernel = loaded(device);
  const empty = { grid: [4, 1, 1], block: [256, 1, 1], sharedBytes: 0 } as const;
  const own = perCall(() => kernel.launch(empty, [], undefined));
  kernel.unload();
  for (const a of arrays) a.dispose();
  return `${api.toFixed(2)} µs a launch of four arguments, ${own.toFixed(2)} µs of none at the driver`;
}

/** Microseconds a call: the best of several rounds that the queue of launches does not fill up in. */
function perCall(run: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 20; round++) {
    cuda.synchronize();
    const began = performance.now();
    for (let k = 0; k < 500; k++) run();
    best = Math.min(best, (performance.now() - began) * 2);
  }
  cuda.synchronize();
  return best;
}

export const driverTests: GpuModule = {
  chapter: 'nvidia driver',
  tests: [
    { name: 'information', run: information },
    { name: 'memory', run: memory },
    { name: 'a pool that is trimmed', run: trimming },
    { name: 'pinned, mapped and managed host memory', run: hostMemory },
    { name: 'registered host memory', run: registered },
    { name: 'memory shared with another process', run: sharing },
    { name: 'streams and events', run: streams },
    { name: 'default and external streams', run: defaultStreams },
    { name: 'shared memory up to all there is', run: sharedMemory },
    { name: 'parameters of every type', run: parameters },
    { name: 'attributes and occupancy', run: occupancy },
    { name: 'PTX that the driver rejects', run: rejectedPtx },
    { name: 'several contexts', run: closing },
    { name: 'cost of a launch', run: launchCost },
  ],
};
