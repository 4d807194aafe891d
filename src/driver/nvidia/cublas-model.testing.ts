/**
 * A model of cuBLAS for tests without a GPU, over the model of libcuda: products of real memory, written from the documentation of gemm in column-major order.
 *
 * It is as strict as the library: handles, leading dimensions, workspaces that `cublasSetStream` takes away.
 */
import type { CudaModel } from '../cuda-api/cuda-model.testing.ts';
import type { Cublas } from './cublas.ts';

const NOT_INITIALIZED = 1;
const INVALID_VALUE = 7;
const NOT_SUPPORTED = 15;

/** By cudaDataType: bytes of an element, and its parts. */
const TYPES: Readonly<Record<number, { readonly bytes: number; readonly parts: 1 | 2 }>> = {
  0: { bytes: 4, parts: 1 },
  1: { bytes: 8, parts: 1 },
  2: { bytes: 2, parts: 1 },
  4: { bytes: 8, parts: 2 },
  5: { bytes: 16, parts: 2 },
  14: { bytes: 2, parts: 1 },
};

/** A number, or a complex one. */
type Value = readonly [re: number, im: number];

export class CublasModel {
  readonly #model: CudaModel;
  readonly #handles = new Map<number, { stream: number; workspace: number }>();
  #next = 0x10;
  /** The workspace of each product that was asked for. */
  readonly workspaces: number[] = [];
  mathMode = -1;

  constructor(model: CudaModel) {
    this.#model = model;
  }

  /** Handles that have not been destroyed. */
  get open(): number {
    return this.#handles.size;
  }

  /** The library, as cublas.ts gives it. Calls are among those of the model, and give what that is told they give. */
  get cublas(): Cublas {
    const functions = this.#functions();
    return Object.fromEntries(
      Object.entries(functions).map(([name, body]) => [
        name,
        (...args: readonly unknown[]) => {
          this.#model.calls.push(name);
          return this.#model.results.get(name) ?? (body as (...args: readonly unknown[]) => number)(...args);
        },
      ]),
    ) as unknown as Cublas;
  }

  #int(cell: number, value: number): number {
    new BigUint64Array(this.#model.ffi.view(cell, 8))[0] = BigInt(value);
    return 0;
  }

  #functions(): Record<keyof Cublas, (...args: never[]) => number> {
    const handles = this.#handles;
    return {
      cublasCreate_v2: (cell: number) => {
        this.#next += 16;
        handles.set(this.#next, { stream: 0, workspace: 0 });
        return this.#int(cell, this.#next);
      },
      cublasDestroy_v2: (handle: number) => (handles.delete(handle) ? 0 : NOT_INITIALIZED),
      cublasGetProperty: (which: number, cell: number) => this.#int(cell, [13, 0, 2][which] ?? 0),
      cublasSetMathMode: (handle: number, mode: number) => {
        this.mathMode = mode;
        return handles.has(handle) ? 0 : NOT_INITIALIZED;
      },
      cublasSetStream_v2: (handle: number, stream: number) => {
        handles.set(handle, { stream, workspace: 0 });
        return 0;
      },
      cublasSetWorkspace_v2: (handle: number, workspace: number, bytes: number) => {
        const known = handles.get(handle);
        if (known === undefined) return NOT_INITIALIZED;
        if (bytes < 4 * 2 ** 20 || workspace === 0) return INVALID_VALUE;
        known.workspace = workspace;
        return 0;
      },
      cublasGemmEx: (
        ...[handle, opA, opB, m, n, k, alpha, a, typeA, lda, b, typeB, ldb, beta, c, typeC, ldc, compute]: number[]
      ) =>
        this.#gemm(
          handle as number,
          { opA, opB, m, n, k, alpha, beta, count: 1, compute } as Shape,
          { pointer: a, type: typeA, ld: lda, next: 0 } as Operand,
          { pointer: b, type: typeB, ld: ldb, next: 0 } as Operand,
          { pointer: c, type: typeC, ld: ldc, next: 0 } as Operand,
        ),
      cublasGemmStridedBatchedEx: (
        ...[handle, opA, opB, m, n, k, alpha, a, typeA, lda, nextA, b, typeB, ldb, nextB, beta, ...rest]: number[]
      ) => {
        const [c, typeC, ldc, nextC, count, compute] = rest;
        return this.#gemm(
          handle as number,
          { opA, opB, m, n, k, alpha, beta, count, compute } as Shape,
          { pointer: a, type: typeA, ld: lda, next: nextA } as Operand,
          { pointer: b, type: typeB, ld: ldb, next: nextB } as Operand,
          { pointer: c, type: typeC, ld: ldc, next: nextC } as Operand,
        );
      },
    };
  }

  #gemm(handle: number, shape: Shape, a: Operand, b: Operand, c: Operand): number {
    const known = this.#handles.get(handle);
    if (known === undefined) return NOT_INITIALIZED;
    const { opA, opB, m, n, k, alpha, beta, count, compute } = shape;
    // 64F of f64 and its complex numbers, 32F of the others.
    const wide = a.type === 1 || a.type === 5;
    if (a.type !== b.type || compute !== (wide ? 70 : 68)) return NOT_SUPPORTED;
    if (c.type !== a.type && !((a.type === 2 || a.type === 14) && c.type === 0)) return NOT_SUPPORTED;
    const high =
      a.ld < Math.max(1, opA === 0 ? m : k) || b.ld < Math.max(1, opB === 0 ? k : n) || c.ld < Math.max(1, m);
    if (high || Math.min(m, n, k, count) < 0) return INVALID_VALUE;
    this.workspaces.push(known.workspace);
    // In the host's memory: read when it is called.
    const [one, zero] = [alpha, beta].map((at) => this.#read(at, a.type === 2 || a.type === 14 ? 0 : a.type)) as [
      Value,
      Value,
    ];
    return this.#model.work(known.stream, 'gemm', () => {
      for (let z = 0; z < count; z++) {
        for (let j = 0; j < n; j++) {
          for (let i = 0; i < m; i++) {
            let sum: Value = [0, 0];
            for (let p = 0; p < k; p++) {
              const x = this.#element(a, z, opA === 0 ? i + p * a.ld : p + i * a.ld);
              const y = this.#element(b, z, opB === 0 ? p + j * b.ld : j + p * b.ld);
              sum = plus(sum, times(x, y));
            }
            const place = c.pointer + (z * c.next + i + j * c.ld) * bytesOf(c.type);
            const old: Value = zero[0] === 0 && zero[1] === 0 ? [0, 0] : times(zero, this.#read(place, c.type));
            this.#write(place, c.type, plus(times(one, sum), old));
          }
        }
      }
    });
  }

  #element({ pointer, type, next }: Operand, z: number, at: number): Value {
    return this.#read(pointer + (z * next + at) * bytesOf(type), type);
  }

  #read(address: number, type: number): Value {
    const { bytes, parts } = TYPES[type] as { bytes: number; parts: 1 | 2 };
    const view = new DataView(this.#model.ffi.view(address, bytes));
    const part = (k: number): number => {
      if (bytes / parts === 8) return view.getFloat64(8 * k, true);
      if (bytes / parts === 4) return view.getFloat32(4 * k, true);
      const bits = view.getUint16(0, true);
      return type === 14 ? fromBfloat(bits) : fromHalf(bits);
    };
    return [part(0), parts === 2 ? part(1) : 0];
  }

  #write(address: number, type: number, value: Value): void {
    const { bytes, parts } = TYPES[type] as { bytes: number; parts: 1 | 2 };
    const view = new DataView(this.#model.ffi.view(address, bytes));
    for (let k = 0; k < parts; k++) {
      const x = value[k] as number;
      if (bytes / parts === 8) view.setFloat64(8 * k, x, true);
      else if (bytes / parts === 4) view.setFloat32(4 * k, x, true);
      else view.setUint16(0, type === 14 ? toBfloat(x) : toHalf(x), true);
    }
  }
}

interface Shape {
  readonly opA: number;
  readonly opB: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly alpha: number;
  readonly beta: number;
  readonly count: number;
  readonly compute: number;
}

interface Operand {
  readonly pointer: number;
  readonly type: number;
  readonly ld: number;
  readonly next: number;
}

const bytesOf = (type: number): number => TYPES[type]?.bytes ?? 0;
const plus = (a: Value, b: Value): Value => [a[0] + b[0], a[1] + b[1]];
const times = (a: Value, b: Value): Value => [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]];

const fromBfloat = (bits: number): number => new Float32Array(Uint32Array.of(bits << 16).buffer)[0] as number;
const toBfloat = (x: number): number => (new Uint32Array(Float32Array.of(x).buffer)[0] as number) >>> 16;

/** Whole numbers of a few bits, which are exact. */
function fromHalf(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const size = exponent === 0 ? (bits & 1023) * 2 ** -24 : (1 + (bits & 1023) / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -size : size;
}

function toHalf(x: number): number {
  if (x === 0) return 0;
  const exponent = Math.floor(Math.log2(Math.abs(x)));
  return (x < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | Math.round((Math.abs(x) / 2 ** exponent - 1) * 1024);
}
