/**
 * One compiled form of a kernel that can run: its WebAssembly instance on this thread, with the functions that it imports.
 */
import type { MathFn } from '../../compiler/ir/ops.ts';
import { HOST_MATH } from '../../compiler/math/host.ts';
import type { PrintSite } from '../../compiler/render/sites.ts';
import type { WasmExports, WasmModule } from '../../compiler/render/wasm/module.ts';
import { printed } from '../printed.ts';
import type { DeviceMemory } from './memory.ts';
import { type WasmCode, WebAssembly } from './webassembly.ts';
import { WORKER_MATH } from './worker-code.ts';

/** A module with its instance over the memory of a device. */
export interface Variant {
  readonly module: WasmModule;
  readonly code: WasmCode;
  readonly run: WasmExports['run'];
  /** Whether worker threads can run it: `print` and some functions exist on the caller's thread alone. */
  readonly portable: boolean;
}

/** Compiles and instantiates a module. Synchronous. */
export function instantiate(module: WasmModule, memory: DeviceMemory): Variant {
  const code = new WebAssembly.Module(module.bytes);
  // V8 calls its own `Math` functions from WebAssembly without passing through JavaScript.
  const math = Object.fromEntries(module.math.map((name) => [name, HOST_MATH[name as MathFn]]));
  const print = (site: number, values: number | bigint): void => {
    const line = module.prints[site] as PrintSite;
    console.log(...printed(line, new DataView(memory.bytes.buffer, Number(values), 8 * line.parts.length)));
  };
  const instance = new WebAssembly.Instance(code, { env: { memory: memory.memory, print }, math });
  const { run } = instance.exports as unknown as WasmExports;
  const portable = module.prints.length === 0 && module.math.every((name) => WORKER_MATH.has(name));
  return { module, code, run, portable };
}
