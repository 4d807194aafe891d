/**
 * Products of matrices by cuBLAS on one device: a handle, made when it is first needed and destroyed with the device, and memory for its work by stream.
 *
 * cuBLAS counts columns first: a matrix whose rows lie in a piece is to it the transposed one. So `C = A · B` is asked for as `Cᵀ = Bᵀ · Aᵀ`, and what is `turned` here is
 * transposed there. Sums are in f32, f64 or complex numbers of these: never TF32, and f16 is not added in less than f32 either.
 */
import { DriverError } from '../../errors.ts';
import type { CudaContext } from '../cuda-api/context.ts';
import type { CudaMemory } from '../cuda-api/memory.ts';
import type { CudaStream } from '../cuda-api/streams.ts';
import type { MatrixProduct, ProductLibrary, ProductMatrix, ProductType } from '../driver.ts';
import { type Cublas, type CublasOrReason, describeStatus } from './cublas.ts';

/** cudaDataType. */
const DATA_TYPE: Readonly<Record<ProductType, number>> = { f32: 0, f64: 1, f16: 2, c64: 4, c128: 5, bf16: 14 };
/** cublasComputeType_t. */
const COMPUTE_32F = 68;
const COMPUTE_64F = 70;
/** cublasMath_t: the default, but for sums of f16 in f16. */
const MATH_MODE = 16;
/** cublasOperation_t. */
const OP_N = 0;
const OP_T = 1;
const GEMM_DEFAULT = -1;

/** What NVIDIA recommends: of compute capability 9.0 and above, and below. */
const WORKSPACE_BYTES = { new: 32 * 2 ** 20, old: 4 * 2 ** 20 };

/** What products need of the device. */
export interface ProductHost {
  readonly context: CudaContext;
  readonly memory: CudaMemory;
  readonly capability: number;
  readonly load: () => CublasOrReason;
}

export class CublasProducts {
  readonly #host: ProductHost;
  readonly #workspaceBytes: number;
  #cublas: Cublas | undefined;
  #handle = 0;
  #library: ProductLibrary | undefined;
  /** 1 and 0 as f32, f64 and complex numbers of these: the same bytes serve parts of both sizes, two each. */
  readonly #scalars: Float64Array = new Float64Array(16);
  /** By CUstream. */
  readonly #workspaces = new Map<number, number>();
  /** Memory of graphs, for the streams that they are captured on. */
  readonly #lent = new WeakMap<CudaStream, number>();

  constructor(host: ProductHost) {
    this.#host = host;
    this.#workspaceBytes = host.capability >= 90 ? WORKSPACE_BYTES.new : WORKSPACE_BYTES.old;
    this.#scalars[0] = 1;
    new Float32Array(this.#scalars.buffer, 32, 2)[0] = 1;
  }

  /** The library, which is loaded when this is first asked. */
  get library(): ProductLibrary {
    this.#library ??= this.#open();
    return this.#library;
  }

  #open(): ProductLibrary {
    const { context, load } = this.#host;
    const { cublas, reason } = load();
    if (cublas === undefined) return { reason };
    context.enter('cublasCreate');
    const { out } = context;
    const created = Number(cublas.cublasCreate_v2(out.at(0)));
    if (created !== 0) return { reason: `cublasCreate gives ${describeStatus(created)}` };
    this.#handle = out.long(0);
    this.#cublas = cublas;
    const version = [0, 1, 2].map((which) => {
      cublas.cublasGetProperty(which, out.at(0));
      return out.int(0);
    });
    this.#check(cublas.cublasSetMathMode(this.#handle, MATH_MODE), 'cublasSetMathMode');
    return { name: `cuBLAS ${version.join('.')}` };
  }

  /** Enqueues a product. */
  multiply(product: MatrixProduct, stream: CudaStream): void {
    const { context } = this.#host;
    const { reason } = this.library;
    if (this.#cublas === undefined) {
      throw new DriverError('E_CUBLAS', `multiply: there is no cuBLAS: ${reason}`, { api: 'cublasGemmEx' });
    }
    context.enter('cublasGemmEx');
    const cublas = this.#cublas;
    const handle = this.#handle;
    const workspace = this.#workspaceOf(stream);
    this.#check(cublas.cublasSetStream_v2(handle, stream.handle), 'cublasSetStream');
    // Setting the stream has taken it away.
    this.#check(cublas.cublasSetWorkspace_v2(handle, workspace, this.#workspaceBytes), 'cublasSetWorkspace');
    const { m, n, k, count, a, b, c } = product;
    const wide = a.type === 'f64' || a.type === 'c128';
    const [one, zero] = this.#factors(wide);
    const compute = wide ? COMPUTE_64F : COMPUTE_32F;
    const sizes = [handle, opOf(b), opOf(a), n, m, k, one];
    if (count === 1) {
      const of = ({ pointer, type, step }: ProductMatrix): unknown[] => [pointer, DATA_TYPE[type], step];
      const status = cublas.cublasGemmEx(...sizes, ...of(b), ...of(a), zero, ...of(c), compute, GEMM_DEFAULT);
      this.#check(status, 'cublasGemmEx', product);
    } else {
      const of = ({ pointer, type, step, next }: ProductMatrix): unknown[] => [pointer, DATA_TYPE[type], step, next];
      const status = cublas.cublasGemmStridedBatchedEx(
        ...[...sizes, ...of(b), ...of(a), zero, ...of(c)],
        ...[count, compute, GEMM_DEFAULT],
      );
      this.#check(status, 'cublasGemmStridedBatchedEx', product);
    }
  }

  /** The addresses of 1 and 0. */
  #factors(wide: boolean): readonly [number, number] {
    const start = Number(this.#host.context.cuda.ffi.address(this.#scalars));
    return wide ? [start, start + 16] : [start + 32, start + 40];
  }

  #workspaceOf(stream: CudaStream): number {
    const lent = this.#lent.get(stream);
    if (lent !== undefined) return lent;
    let workspace = this.#workspaces.get(stream.handle);
    if (workspace === undefined) {
      workspace = this.#host.memory.allocate(this.#workspaceBytes, undefined, false);
      this.#workspaces.set(stream.handle, workspace);
    }
    return workspace;
  }

  /** Memory for what is captured on a stream; it belongs to the graph, whose launches are in order. */
  lend(stream: CudaStream): number {
    const workspace = this.#host.memory.allocate(this.#workspaceBytes, undefined, false);
    this.#lent.set(stream, workspace);
    return workspace;
  }

  /** A stream ends; its memory is freed after its work. */
  forget(stream: CudaStream): void {
    const workspace = this.#workspaces.get(stream.handle);
    if (workspace === undefined) return;
    this.#workspaces.delete(stream.handle);
    this.#host.memory.free(workspace, stream.handle);
  }

  /** The context is current. */
  close(): void {
    this.#cublas?.cublasDestroy_v2(this.#handle);
    this.#cublas = undefined;
    this.#library = { reason: 'the device has been closed' };
    for (const workspace of this.#workspaces.values()) this.#host.memory.free(workspace, undefined);
    this.#workspaces.clear();
  }

  #check(given: unknown, api: string, product?: MatrixProduct): void {
    const status = Number(given);
    if (status === 0) return;
    const of = product === undefined ? '' : `\n  in the product of ${showProduct(product)}`;
    throw new DriverError(
      'E_CUBLAS',
      `${api}: ${describeStatus(status)}, on ${this.#host.context.name}${of}\n  help: { library: 'own' } multiplies by kernels of Tsamba's`,
      { api },
    );
  }
}

function opOf({ turned }: ProductMatrix): number {
  return turned ? OP_T : OP_N;
}

function showProduct({ m, n, k, count, a }: MatrixProduct): string {
  return `[${m}, ${k}] and [${k}, ${n}] of ${a.type}${count === 1 ? '' : `, ${count} of them`}`;
}
