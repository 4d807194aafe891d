/**
 * The math table's functions as the CPU device runs them: compiled by its pipeline, on columns of f32 or f64 in a memory of their own.
 */
import type { MathFn } from '../../src/compiler/ir/ops.ts';
import { HOST_MATH } from '../../src/compiler/math/host.ts';
import { arity, mapKernel } from '../../src/compiler/math/testing.ts';
import { RECORD_PARAMS_SLOT, type WasmExports } from '../../src/compiler/render/wasm/module.ts';
import { wasmPipeline } from '../../src/driver/cpu/compile.ts';
import { WebAssembly } from '../../src/driver/cpu/webassembly.ts';

const PAGE = 65536;
/** Threads of a block. */
const BLOCK = 256;

type Column = Float32Array | Float64Array;

export interface CompiledFunction {
  /** The result and the arguments (`b` is `a` where there is only one). */
  readonly y: Column;
  readonly a: Column;
  readonly b: Column;
  /** Computes all of `y`. */
  run(): void;
}

/** `size`: elements of a column, a multiple of 16384. */
export function compileFunction(fn: MathFn, lanes: 1 | 4, size: number, type: 'f32' | 'f64' = 'f32'): CompiledFunction {
  const columns = arity(fn) + 1;
  const View = type === 'f64' ? Float64Array : Float32Array;
  const variant = { block: [BLOCK, 1, 1] as const, lanes, concurrent: false, memory64: false };
  const module = wasmPipeline.compile(wasmPipeline.prepare(mapKernel(fn, { type })), variant);
  if (module.lanes !== lanes) throw new Error(`${fn} was compiled for ${module.lanes} lanes instead of ${lanes}`);
  // The launch record, scratch, the columns.
  const data = PAGE + Math.ceil(module.scratchBytes / PAGE) * PAGE;
  const pages = (data + columns * size * View.BYTES_PER_ELEMENT) / PAGE;
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  const record = new Uint32Array(memory.buffer, 0, 2 * (RECORD_PARAMS_SLOT + columns));
  record.set([size / BLOCK, 1, 1]);
  const views: Column[] = [];
  for (let k = 0; k < columns; k++) {
    const address = data + k * size * View.BYTES_PER_ELEMENT;
    record[2 * (RECORD_PARAMS_SLOT + k)] = address;
    views.push(
      type === 'f64' ? new Float64Array(memory.buffer, address, size) : new Float32Array(memory.buffer, address, size),
    );
  }
  const code = new WebAssembly.Module(module.bytes);
  const instance = new WebAssembly.Instance(code, { env: { memory, print: () => undefined }, math: HOST_MATH });
  const { run } = instance.exports as unknown as WasmExports;
  const [y = new View(), a = y, b = a] = views;
  return {
    y,
    a,
    b,
    run() {
      if (run(0, size / BLOCK, 0, PAGE) !== 0) throw new Error(`${fn} stopped`);
    },
  };
}
