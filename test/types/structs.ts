/**
 * Checked by the compiler alone: what the editor knows of structs in kernels and of records on the device.
 */
import {
  type Cube,
  c64,
  cuda,
  type DeviceNDArray,
  type DeviceRecord,
  f32,
  i32,
  i64,
  type Mat,
  type NDArray,
  ndarray,
  type Struct,
  struct,
  u8,
  type Vec,
} from '../../src/index.ts';

const Particle = struct({ x: f32, n: i64, pos: struct({ a: f32, tag: u8 }), f: f32.array(3, 2), v: i32.array(4) });
const Other = struct({ id: i32 });
type P = Struct<typeof Particle>;

declare const p: Vec<typeof Particle>;
declare const q: Vec<P>;
declare const A: Mat<typeof Particle>;
declare const z: Vec<c64>;
declare const element: P;

// Members have the types of their fields, in either way of naming the struct.
export const x: number = p[0].x;
export const n: bigint = q[0].n;
export const nested: number = p[0].pos.tag;
export const item: number = p[0].f[1][2] + q[0].v[3] + A[1][2].pos.a;
export const part: number = z[0].re;
p[0].x += 1;
p[0].f[2][1] = 3;
p[0] = q[1];
p[0].pos = { a: 1, tag: 2 };
z[0] = c64(1, 2);
z[0] = z[1] * z[0] + 2;
z[0].re = 1;
// @ts-expect-error: there is no such member
p[0].y = 1;
// @ts-expect-error: i64 members are bigints
p[0].n = 1;
// @ts-expect-error: every member must be given
p[0].pos = { a: 1 };
// @ts-expect-error: f has two axes
p[0].f[0] = 1;

// Arrays of one member, with the axes of sub-arrays; atomics on members that are numbers.
export const xs: Vec<number> = p.field('x');
export const fs: Cube<number> = p.field('f');
export const vs: Mat<number> = q.field('v');
export const tag: number = p.field('pos')[0].tag;
export const old: number = cuda.atomic.add(p[0], 'x', 1);
export const oldBig: bigint = cuda.atomic.max(p[0], 'n', 1n);
// @ts-expect-error: pos is no number
cuda.atomic.add(p[0], 'pos', 1);
// @ts-expect-error: there is no such member
A.field('y');

// Arguments.
const kernel = cuda.jit((ps: Vec<typeof Particle>, settings: P) => {
  ps[0].x = settings.x;
});
const device: DeviceNDArray<P, 1> = cuda.deviceArray(4, Particle);
const record: DeviceRecord<P> = cuda.toDevice(element, { dtype: Particle });
const host: NDArray<P, 1> = ndarray.zeros([4], Particle);
kernel.launch({ grid: 1, block: 1 }, device, record);
kernel.launch({ grid: 1, block: 1 }, host, record);
kernel.launch({ grid: 1, block: 1 }, cuda.In(host), record);
// @ts-expect-error: elements of another struct
kernel.launch({ grid: 1, block: 1 }, cuda.deviceArray(4, Other), record);
// @ts-expect-error: a record of another struct
kernel.launch({ grid: 1, block: 1 }, device, cuda.toDevice({ id: 1 }, { dtype: Other }));
cuda.jit(() => {
  const tile = cuda.shared.array(64, Particle);
  tile[0].pos.a = 1;
});

// Members of records on the device.
export const field: number = record.get('x');
export const inner: number = record.get('pos').get('a');
export const shape: readonly number[] = record.get('f').shape;
export const whole: P = record.copyToHost();
export const column: NDArray<number> = host.field('x');
export const far: DeviceNDArray<number> = device.field('v');
record.set('pos', { a: 1, tag: 2 });
// @ts-expect-error: there is no such field
record.get('y');
// @ts-expect-error: x is a number
record.set('x', '1');
