/**
 * One compiled form of a kernel that can run: its WebAssembly instance on this thread, with the functions that it imports.
 */
import { fail } from '../../compiler/frontend/diagnostics.ts';
import type { MathFn } from '../../compiler/ir/ops.ts';
import { hostMath } from '../../compiler/math/host.ts';
import type { PrintSite } from '../../compiler/render/sites.ts';
import type { WasmExports, WasmModule } from '../../compiler/render/wasm/module.ts';
import type { Pos } from '../../compiler/source.ts';
import { NotSupportedError } from '../../errors.ts';
import { printed } from '../printed.ts';
import type { DeviceMemory } from './memory.ts';
import { type WasmCode, WebAssembly } from './webassembly.ts';
import { WORKER_MATH } from './worker-facts.ts';

/** Engines' limits of the locals and bytes of a function are far above this. */
const LARGE = 500_000;

/** A module with its instance over the memory of a device. */
export interface Variant {
  readonly module: WasmModule;
  readonly code: WasmCode;
  readonly run: WasmExports['run'];
  /** Whether worker threads can run it: `print` and some functions exist on the caller's thread alone. */
  readonly portable: boolean;
}

/** Compiles and instantiates the module of the kernel at `pos`. Synchronous. */
export function instantiate(module: WasmModule, memory: DeviceMemory, pos: Pos): Variant {
  const code = compile(module, pos);
  // V8 calls its own `Math` functions from WebAssembly without passing through JavaScript.
  const math = Object.fromEntries(module.math.map((name) => [name, hostMath(name as MathFn)]));
  const print = (site: number, values: number | bigint): void => {
    const line = module.prints[site] as PrintSite;
    console.log(...printed(line, new DataView(memory.bytes.buffer, Number(values), 8 * line.parts.length)));
  };
  const instance = new WebAssembly.Instance(code, { env: { memory: memory.memory, print }, math });
  const { run } = instance.exports as unknown as WasmExports;
  const portable = module.prints.length === 0 && module.math.every((name) => WORKER_MATH.has(name));
  return { module, code, run, portable };
}

/** What engines say of code that a page's policy does not let them compile. */
const FORBIDDEN = /disallowed by embedder|Content Security Policy|CSP|unsafe-eval/i;

function forbidden(cause: unknown): NotSupportedError {
  return new NotSupportedError(
    'E_NO_WEBASSEMBLY',
    "the CPU device compiles kernels to WebAssembly, which the page's content security policy forbids: add 'wasm-unsafe-eval' to its script-src, " +
      `or compute on a GPU, which needs none: await cuda.open('webgpu') (${cause instanceof Error ? cause.message : String(cause)})`,
  );
}

/** The modules that are rendered are valid, so that what an engine does not accept of them is their size. */
function compile({ bytes }: WasmModule, pos: Pos): WasmCode {
  try {
    return new WebAssembly.Module(bytes);
  } catch (cause) {
    if (FORBIDDEN.test(String(cause))) throw forbidden(cause);
    if (bytes.length < LARGE) throw cause;
    fail('K106', pos, `the kernel is too large for WebAssembly: it becomes ${bytes.length} bytes of code`, {
      help: 'use loops for what repeats, or split it into several kernels',
      cause,
    });
  }
}
