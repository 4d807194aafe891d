/**
 * Modules written by hand for tests of the pool and of launches: they obey render/wasm/module.ts without any compiler.
 */

import type { FaultSite, PrintSite } from '../../compiler/render/sites.ts';
import { type FunctionBuilder, ModuleBuilder } from '../../compiler/render/wasm/assembler.ts';
import type { WasmModule } from '../../compiler/render/wasm/module.ts';

/** Locals of `run`: its parameters, then the current block. */
export const FIRST = 0;
export const END = 1;
export const RECORD = 2;
export const SCRATCH = 3;
export const BLOCK = 4;
/** Number of the imported function `env.print`; 0 is `math.atan2`. */
export const PRINT = 1;

/** `run` does `body` for each block; what the body leaves by `return` is the result. Addresses have 32 bits. */
export function handmade(body: (f: FunctionBuilder) => void): Uint8Array {
  const builder = new ModuleBuilder({ memory64: false });
  builder.importFunction('math', 'atan2', ['f64', 'f64'], ['f64']);
  builder.importFunction('env', 'print', ['i32', 'i32'], []);
  const { index, builder: f } = builder.function(['i32', 'i32', 'i32', 'i32'], ['i32']);
  f.local('i32');
  f.get(FIRST);
  f.set(BLOCK);
  const done = f.block();
  const loop = f.loop();
  f.get(BLOCK, END);
  f.op('i32.ge_u');
  f.brIf(done);
  body(f);
  f.get(BLOCK);
  f.i32(1);
  f.op('i32.add');
  f.set(BLOCK);
  f.br(loop);
  f.end();
  f.end();
  f.i32(0);
  builder.export('run', index);
  return builder.finish();
}

/** The module as a renderer would hand it over. */
export function moduleOf(
  body: (f: FunctionBuilder) => void,
  more: { sites?: readonly FaultSite[]; prints?: readonly PrintSite[]; constants?: Uint8Array } = {},
): WasmModule {
  return {
    bytes: handmade(body),
    lanes: 1,
    sites: more.sites ?? [],
    scratchBytes: 128,
    constants: more.constants ?? new Uint8Array(),
    math: ['atan2'],
    prints: more.prints ?? [],
  };
}

/** Adds 1 to the i32 at `base + 4 * block`; `base` leaves an address on the stack. */
export function count(f: FunctionBuilder, base: () => void): void {
  base();
  f.get(BLOCK);
  f.i32(4);
  f.op('i32.mul', 'i32.add');
  f.i32(1);
  f.memory('i32.atomic.rmw.add', 2, 0);
  f.op('drop');
}

/** Spins for about `n` rounds. */
export function spin(f: FunctionBuilder, n: number): void {
  const left = f.local('i32');
  f.i32(n);
  f.set(left);
  const loop = f.loop();
  f.get(left);
  f.i32(1);
  f.op('i32.sub');
  f.tee(left);
  f.brIf(loop);
  f.end();
}
