/**
 * The assembler: encodings, and modules that the engine accepts.
 */
import { describe, expect, it } from 'vitest';
import { disassemble } from '../../../driver/cpu/disassemble.ts';
import { ByteWriter, ModuleBuilder } from './assembler.ts';
import { allOps, type PlainOp } from './opcodes.ts';

interface Engine {
  validate(bytes: Uint8Array): boolean;
  readonly Memory: new (limits: object) => object;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: Record<string, (...args: number[]) => number> };
}
const { WebAssembly } = globalThis as unknown as { WebAssembly: Engine };

function written(write: (w: ByteWriter) => void): number[] {
  const w = new ByteWriter();
  write(w);
  return [...w.finish()];
}

describe('integers in LEB128', () => {
  it.each([
    [0, [0]],
    [127, [0x7f]],
    [128, [0x80, 1]],
    [624485, [0xe5, 0x8e, 0x26]],
    [2 ** 32 - 1, [0xff, 0xff, 0xff, 0xff, 0x0f]],
    [2 ** 35, [0x80, 0x80, 0x80, 0x80, 0x80, 0x01]],
  ])('unsigned %i', (value, bytes) => expect(written((w) => w.unsigned(value))).toEqual(bytes));

  it.each([
    [0, [0]],
    [63, [0x3f]],
    [64, [0xc0, 0]],
    [-64, [0x40]],
    [-65, [0xbf, 0x7f]],
    [-(2 ** 31), [0x80, 0x80, 0x80, 0x80, 0x78]],
    [2 ** 31 - 1, [0xff, 0xff, 0xff, 0xff, 0x07]],
  ])('signed %i', (value, bytes) => {
    expect(written((w) => w.signed(value))).toEqual(bytes);
    expect(written((w) => w.signed64(BigInt(value)))).toEqual(bytes);
  });

  it('grows', () => expect(written((w) => w.bytes(new Uint8Array(5000).fill(7)))).toHaveLength(5000));
});

describe('modules', () => {
  it('run: a loop with branches out of nested constructs', () => {
    const module = new ModuleBuilder({ memory64: false });
    const { index, builder: f } = module.function(['i32'], ['i32']);
    const sum = f.local('i32');
    const done = f.block();
    const again = f.loop();
    f.get(0);
    f.op('i32.eqz');
    f.if();
    f.br(done);
    f.end();
    f.get(sum, 0);
    f.op('i32.add');
    f.set(sum);
    f.get(0);
    f.i32(1);
    f.op('i32.sub');
    f.set(0);
    f.br(again);
    f.end();
    f.end();
    f.get(sum);
    module.export('sum', index);
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.finish()), { env: { memory } });
    expect(exports.sum?.(100)).toBe(5050);
  });

  it('give locals back and reuse them', () => {
    const module = new ModuleBuilder({ memory64: false });
    const { builder: f } = module.function(['f32'], []);
    const first = f.temp('v128');
    f.release('v128', first);
    expect(f.temp('v128')).toBe(first);
    expect(f.temp('v128')).toBe(first + 1);
  });

  it('write each vector constant once', () => {
    const module = new ModuleBuilder({ memory64: false });
    const { index, builder: f } = module.function([], ['i32']);
    module.export('sum', index);
    for (const lanes of [
      [1, 1, 1, 1],
      [0, 1, 2, 3],
      [-1, -1, -1, -1],
      [1, 1, 1, 1],
      [0, 1, 2, 3],
    ] as const)
      f.v128(lanes);
    f.op('i32x4.add', 'i32x4.add', 'i32x4.add', 'i32x4.add');
    f.lane('i32x4.extract_lane', 3);
    const bytes = module.finish();
    expect(bytes.join().split('253,12,').length - 1).toBe(3);
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
    expect(exports.sum?.(0)).toBe(1 + 3 - 1 + 1 + 3);
  });

  it('have variables that are kept from call to call', () => {
    const module = new ModuleBuilder({ memory64: false });
    const count = module.global(5);
    const { index, builder: f } = module.function([], ['i32']);
    module.export('next', index);
    f.getGlobal(count);
    f.getGlobal(count);
    f.i32(1);
    f.op('i32.add');
    f.setGlobal(count);
    const bytes = module.finish();
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
    expect([exports.next?.(0), exports.next?.(0)]).toEqual([5, 6]);
    expect(disassemble(bytes)).toContain('(global (mut i32) (i32.const 5))');
    expect(disassemble(bytes)).toMatch(/global\.get 0\n.*i32\.const 1\n.*i32\.add\n.*global\.set 0/);
  });

  it('refuse imports after functions', () => {
    const module = new ModuleBuilder({ memory64: false });
    module.function([], []);
    expect(() => module.importFunction('math', 'exp', ['f64'], ['f64'])).toThrow('declared after a function');
  });

  it('know instructions that the engine knows', () => {
    for (const [name, code] of Object.entries(allOps().none)) {
      const module = new ModuleBuilder({ memory64: false });
      const { builder: f } = module.function([], []);
      // After unreachable the stack gives whatever is asked for; what the instruction leaves is dropped by the branch.
      const out = f.block();
      f.op('unreachable', name as PlainOp);
      f.br(out);
      f.end();
      expect([name, code, WebAssembly.validate(module.finish())]).toEqual([name, code, true]);
    }
  });
});
