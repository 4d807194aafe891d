/**
 * Other libraries and processes on the same GPU: the CUDA array interface with real addresses, and IPC with a second Node.js,
 * CuPy and Numba.
 */
import { readTensor, writeTensor } from '../../src/array/dlpack-struct.ts';
import type { IpcArrayHandle } from '../../src/cuda/index.ts';
import { loadFfi } from '../../src/ffi/koffi.ts';
import { cuda, type DeviceNDArray, f32, f64, i32, struct, type Vec } from '../../src/index.ts';
import { same, sameElements, throws } from '../../testsuite/assert.ts';
import { hasPython, runTask, startPython, startTask } from './child.ts';
import { type GpuModule, skip } from './suite.ts';

/** What another library's array looks like: nothing but the interface. */
function exporting(
  of: { readonly __cuda_array_interface__: object },
  more: object = {},
): { __cuda_array_interface__: object } {
  return { __cuda_array_interface__: { ...of.__cuda_array_interface__, ...more } };
}

function interfaces(): void {
  using d = cuda.toDevice(Float32Array.of(0, 1, 2, 3, 4, 5));
  const { data } = d.__cuda_array_interface__;
  same(typeof data[0], 'number', 'an address is a number');
  const add = cuda.jit((a: Vec<f32>) => {
    const k = cuda.grid(1);
    if (k < a.length) a[k] = a[k] + 10;
  });
  add.launch({ threads: 6 }, exporting(d) as never);
  sameElements(d.copyToHost(), [10, 11, 12, 13, 14, 15]);
  sameElements(cuda.asCudaArray(exporting(d, { shape: [3], strides: [8] })).copyToHost() as Float32Array, [10, 12, 14]);
  const reversed = exporting(d.slice('::-1'));
  sameElements(cuda.asCudaArray(reversed).copyToHost() as Float32Array, [15, 14, 13, 12, 11, 10]);
  const locked = cuda.asCudaArray(exporting(d, { data: [data[0], true] }));
  throws(() => locked.set(1), /read-only/, 'E_READ_ONLY');
  throws(() => add.launch({ threads: 6 }, locked as never), /read-only/);
  using target = cuda.deviceArray(6, f32);
  target.copyToDevice(exporting(d, { data: [BigInt(data[0] as number), true], version: 0 }));
  sameElements(target.copyToHost(), [10, 11, 12, 13, 14, 15]);
  const Point = struct({ x: f64, k: i32 }, { align: true });
  using points = cuda.deviceArray(3, Point);
  points.set({ x: 1.5, k: 7 });
  const same2 = cuda.asCudaArray(exporting(points));
  same(JSON.stringify((same2.get(1) as unknown) ?? null), '{"x":1.5,"k":7}');
}

function streams(): void {
  using stream = cuda.stream();
  using d = cuda.deviceArray(1 << 20, f32, { stream });
  const { stream: exported } = d.__cuda_array_interface__;
  same(Number(exported) > 2, true, 'the stream is exported by its handle');
  const slow = cuda.jit((a: Vec<f32>, n: number) => {
    const k = cuda.grid(1);
    let x = 1;
    for (let j = 0; j < n; j++) x = x * 0.5 + 1;
    if (k < a.length) a[k] = x;
  });
  slow.launch({ threads: 1 << 20, stream }, d, 20_000);
  const arrived = cuda.asCudaArray(exporting(d));
  same(arrived.stream === undefined, false, "the stream becomes the array's own");
  same(Math.abs((arrived.get(5) as number) - 2) < 1e-5, true);
  for (const known of [1, 2]) same(cuda.asCudaArray(exporting(d, { stream: known })).size, 1 << 20);
  throws(() => cuda.asCudaArray(exporting(d, { stream: 0 })), /stream 0/, 'E_CUDA_ARRAY');
}

async function child(): Promise<void> {
  const handle = JSON.parse(process.env['TSAMBA_IPC'] ?? '') as IpcArrayHandle;
  {
    using d = cuda.openIpcArray(handle);
    using again = cuda.openIpcArray(structuredClone(handle));
    console.log((d.copyToHost() as Float32Array).join());
    d.set(100, 0);
    same(again.get(0), 100);
  }
  cuda.synchronize();
  const later = cuda.openIpcArray(handle);
  console.log(String(later.get(0)));
  later.dispose();
  cuda.currentContext().deallocations.clear();
}

async function secondNode(): Promise<void> {
  using d = cuda.deviceArray(1000, f32, { ipc: true });
  d.copyToDevice(Float32Array.from({ length: 1000 }, (_, k) => k));
  using part = d.slice('10:40:10');
  throws(() => cuda.openIpcArray(d.ipcHandle()), /this process/, 'E_IPC');
  throws(() => cuda.deviceArray(4).ipcHandle(), /ipc: true/, 'E_IPC');
  const other = startTask('open an array', { TSAMBA_IPC: JSON.stringify(part.ipcHandle()) });
  same(await other.line(), '10,20,30');
  same(await other.line(), '100');
  same(await other.ended, 0);
  same(d.get(10), 100);
  same(d.get(11), 11);
}

const CUPY_OPENS = `
import sys, cupy as cp
handle = bytes.fromhex(sys.argv[1])
base = cp.cuda.runtime.ipcOpenMemHandle(handle)
mem = cp.cuda.UnownedMemory(base, int(sys.argv[2]), None)
a = cp.ndarray((20,), cp.float32, cp.cuda.MemoryPointer(mem, int(sys.argv[3])))
print(float(a.sum()), flush=True)
a += 1
cp.cuda.Device().synchronize()
del a, mem
cp.cuda.runtime.ipcCloseMemHandle(base)
print('done', flush=True)
`;

async function cupyOpensOurs(): Promise<void> {
  if (!hasPython('cupy')) skip('there is no CuPy');
  using d = cuda.deviceArray(100, f32, { ipc: true });
  d.copyToDevice(Float32Array.from({ length: 100 }, (_, k) => k));
  using part = d.slice('50:70');
  const { bytes, size, offset } = part.ipcHandle();
  const python = startPython(CUPY_OPENS, Buffer.from(bytes).toString('hex'), String(size), String(offset));
  same(Number(await python.line()), 1190);
  same(await python.line(), 'done');
  same(await python.ended, 0);
  same(d.get(50), 51);
  same(d.get(49), 49);
}

const CUPY_SHARES = `
import sys, cupy as cp
base = cp.cuda.runtime.malloc(800)
mem = cp.cuda.UnownedMemory(base, 800, None)
a = cp.ndarray((100,), cp.float64, cp.cuda.MemoryPointer(mem, 0))
a[:] = cp.arange(100)
cp.cuda.Device().synchronize()
print(cp.cuda.runtime.ipcGetMemHandle(base).hex(), flush=True)
sys.stdin.readline()
print(float(a[7]), float(a[8]), flush=True)
`;

async function weOpenCupys(): Promise<void> {
  if (!hasPython('cupy')) skip('there is no CuPy');
  const python = startPython(CUPY_SHARES);
  const bytes = Buffer.from(await python.line(), 'hex');
  {
    using d = cuda.openIpcArray(bytes, [10, 10], f64);
    same(d.get(3, 4), 34);
    using tail = cuda.openIpcArray([...bytes], 3, f64, { offset: 56, strides: [8] });
    sameElements(tail.copyToHost(), [7, 8, 9]);
    tail.set(-1, 0);
  }
  cuda.synchronize();
  cuda.currentContext().deallocations.clear();
  python.tell('go');
  same(await python.line(), '-1.0 8.0');
  same(await python.ended, 0);
}

const NUMBA = `
import sys
import numpy as np
np.row_stack = np.vstack
from numba import cuda
from numba.cuda.cudadrv import drvapi
`;

const NUMBA_OPENS = `${NUMBA}
raw = bytes.fromhex(sys.argv[1])
try:
    a = cuda.open_ipc_array(raw, shape=100, dtype=np.float32)
    a = a.__enter__()
except TypeError:
    a = cuda.open_ipc_array(drvapi.cu_ipc_mem_handle(*raw), shape=100, dtype=np.float32).__enter__()
print(float(a.copy_to_host().sum()), flush=True)
a[0] = 5
cuda.synchronize()
print('done', flush=True)
`;

async function numbaOpensOurs(): Promise<string | undefined> {
  if (!hasPython('numba.cuda')) skip('there is no Numba');
  using d = cuda.deviceArray(100, f32, { ipc: true });
  d.copyToDevice(new Float32Array(100).fill(2));
  const python = startPython(NUMBA_OPENS, Buffer.from(d.ipcHandle().bytes).toString('hex'));
  same(Number(await python.line()), 200);
  same(await python.line(), 'done');
  same(await python.ended, 0);
  same(d.get(0), 5);
  return undefined;
}

const NUMBA_SHARES = `${NUMBA}
d = cuda.to_device(np.arange(50, dtype=np.int32))
h = d.get_ipc_handle()
raw = h._ipc_handle.handle
raw = bytes(raw.reserved) if hasattr(raw, 'reserved') else bytes(raw)
print(bytes(b & 255 for b in raw).hex(), h._ipc_handle.offset or 0, flush=True)
sys.stdin.readline()
print(int(d.copy_to_host()[1]), flush=True)
`;

async function weOpenNumbas(): Promise<void> {
  if (!hasPython('numba.cuda')) skip('there is no Numba');
  const python = startPython(NUMBA_SHARES);
  const [hex = '', offset = '0'] = (await python.line()).split(' ');
  {
    using d = cuda.openIpcArray(Buffer.from(hex, 'hex'), 50, i32, { offset: Number(offset) });
    same(d.get(49), 49);
    d.set(77, 1);
    cuda.synchronize();
  }
  cuda.currentContext().deallocations.clear();
  python.tell('go');
  same(await python.line(), '77');
  same(await python.ended, 0);
}

/** A tensor as another library makes it, on our memory, with a deleter that counts. */
function dlpack(): void {
  const { ffi } = loadFfi();
  if (ffi === undefined) throw new Error('koffi is gone');
  let deletions = 0;
  const deleter = ffi.callback('void (void *)', () => {
    deletions++;
  });
  using d = cuda.toDevice(Float32Array.of(0, 1, 2, 3, 4, 5)).reshape(2, 3);
  const { index } = cuda.currentDevice();
  for (const version of [0, 1] as const) {
    const view = d.slice(':', '::-1');
    const tensor = {
      address: view.pointer,
      deviceType: 2,
      deviceIndex: index,
      dtype: view.dtype,
      shape: view.shape,
      strides: view.strides,
      readOnly: version === 1,
    };
    const { pointer } = writeTensor(ffi, tensor, version, deleter);
    const taken = cuda.fromDlpack(pointer, { version }) as DeviceNDArray;
    same(taken.readOnly, version === 1, 'read-only');
    sameElements(taken.copyToHost(), [2, 1, 0, 5, 4, 3]);
    throws(() => cuda.fromDlpack(pointer, { version }), /already consumed/, 'E_DLPACK_USED');
    taken.dispose();
    cuda.currentContext().deallocations.clear();
    same(deletions, version + 1, 'deletions');
  }
  const out = cuda.toDlpack(d.slice(1), { version: 0 });
  const { tensor } = readTensor(ffi, out.pointer, 0);
  same(tensor.address, d.pointer + 12, 'the address that goes out');
  same([tensor.deviceType, tensor.deviceIndex].join(), `2,${index}`, 'the device');
  const back = cuda.fromDlpack(out) as DeviceNDArray;
  const add = cuda.jit((a: Vec<f32>) => {
    const k = cuda.grid(1);
    if (k < a.length) a[k] = a[k] + 10;
  });
  add.launch({ threads: 3 }, back as never);
  same(d.get(1, 2), 15);
  back.dispose();
}

await runTask({ 'open an array': child });

export const interop: GpuModule = {
  chapter: 'nvidia interop',
  tests: [
    { name: 'the array interface carries addresses, strides, flags and structs', run: interfaces },
    { name: 'the array interface carries streams', run: streams },
    { name: 'DLPack tensors go out and come in, and are deleted once', run: dlpack },
    { name: 'a second Node.js opens an array', run: secondNode },
    { name: 'CuPy opens an array of ours', run: cupyOpensOurs, seconds: 90 },
    { name: 'we open an array of CuPy', run: weOpenCupys, seconds: 90 },
    { name: 'Numba opens an array of ours', run: numbaOpensOurs, seconds: 90 },
    { name: 'we open an array of Numba', run: weOpenNumbas, seconds: 90 },
  ],
};
