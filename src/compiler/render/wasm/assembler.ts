/**
 * A small WebAssembly assembler: modules, functions, structured control flow, locals.
 *
 * It writes the binary format directly (https://webassembly.github.io/spec/core/binary). It knows nothing of kernels: the
 * renderer calls one method an instruction. Validation is left to the engine that compiles the bytes.
 */
import {
  LANE_OPS,
  type LaneOp,
  MEMORY_LANE_OPS,
  type MemoryLaneOp,
  type MemoryOp,
  memoryOpcode,
  OP,
  type PlainOp,
  plainOpcode,
} from './opcodes.ts';

export type WasmType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128';

const TYPE_BYTE: Readonly<Record<WasmType, number>> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b };
const EMPTY_BLOCK = 0x40;

/** Index of a local variable or parameter of a function. */
export type Local = number;

/** A block, loop or if that is open and can be branched to. */
export interface BranchTarget {
  /** How many constructs were open when this one was. */
  readonly depth: number;
}

const NUMBER = new DataView(new ArrayBuffer(8));

/** Buffers of writers that are done: engines take longer to make one than the next writer takes to fill it. */
const SPARE: Uint8Array[] = [];
const [SPARE_BUFFERS, SPARE_BYTES] = [16, 2 ** 16];
const EMPTY = new Uint8Array();

/** Growing byte buffer with the encodings of the binary format. */
export class ByteWriter {
  #bytes: Uint8Array = SPARE.pop() ?? new Uint8Array(4096);
  length = 0;

  #reserve(count: number): void {
    if (this.length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + count, 64));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
  }

  byte(value: number): void {
    if (this.length === this.#bytes.length) this.#reserve(1);
    this.#bytes[this.length++] = value;
  }

  bytes(values: ArrayLike<number>): void {
    this.#reserve(values.length);
    this.#bytes.set(values, this.length);
    this.length += values.length;
  }

  /** Unsigned LEB128, up to 2^53. */
  unsigned(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.byte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.byte(rest);
  }

  /** Signed LEB128 of a 32-bit integer. */
  signed(value: number): void {
    let rest = value | 0;
    while (rest < -0x40 || rest >= 0x40) {
      this.byte((rest & 0x7f) | 0x80);
      rest >>= 7;
    }
    this.byte(rest & 0x7f);
  }

  /** Signed LEB128 of a 64-bit integer. */
  signed64(value: bigint): void {
    let rest = BigInt.asIntN(64, value);
    while (rest < -0x40n || rest >= 0x40n) {
      this.byte(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.byte(Number(rest & 0x7fn));
  }

  /** Four bytes as they are. */
  i32(value: number): void {
    this.byte(value & 0xff);
    this.byte((value >> 8) & 0xff);
    this.byte((value >> 16) & 0xff);
    this.byte((value >> 24) & 0xff);
  }

  f32(value: number): void {
    NUMBER.setFloat32(0, value, true);
    this.i32(NUMBER.getInt32(0, true));
  }

  f64(value: number): void {
    NUMBER.setFloat64(0, value, true);
    this.i32(NUMBER.getInt32(0, true));
    this.i32(NUMBER.getInt32(4, true));
  }

  /** A name of the renderer's own: its characters are ASCII. */
  name(text: string): void {
    this.unsigned(text.length);
    for (let i = 0; i < text.length; i++) this.byte(text.charCodeAt(i));
  }

  /** What has been written. The writer is empty then. */
  finish(): Uint8Array {
    const written = this.#bytes.slice(0, this.length);
    this.#clear();
    return written;
  }

  /** Moves what another has written to the end of this one. */
  append(other: ByteWriter): void {
    this.bytes(other.#bytes.subarray(0, other.length));
    other.#clear();
  }

  #clear(): void {
    if (SPARE.length < SPARE_BUFFERS && this.#bytes.length <= SPARE_BYTES) SPARE.push(this.#bytes);
    this.#bytes = EMPTY;
    this.length = 0;
  }
}

/** A vector as four 32-bit numbers. */
type Lanes = readonly [number, number, number, number];

/** One function in the making: code and locals. */
export class FunctionBuilder {
  readonly code: ByteWriter = new ByteWriter();
  readonly #locals: WasmType[] = [];
  readonly #free: Record<WasmType, Local[]> = { i32: [], i64: [], f32: [], f64: [], v128: [] };
  /** Vector constants have 18 bytes, a local two: each is put into one at the start of the function. */
  readonly #splats = new Map<number, Local>();
  readonly #vectors: { readonly lanes: Lanes; readonly local: Local }[] = [];
  readonly #params: number;
  #depth = 0;

  constructor(params: readonly WasmType[]) {
    this.#params = params.length;
  }

  /** A new local, zero at the start of the function. */
  local(type: WasmType): Local {
    this.#locals.push(type);
    return this.#params + this.#locals.length - 1;
  }

  /** A local for a short while; give it back with `release`. Its first value is undefined. */
  temp(type: WasmType): Local {
    return this.#free[type].pop() ?? this.local(type);
  }

  release(type: WasmType, ...locals: readonly Local[]): void {
    this.#free[type].push(...locals);
  }

  #opcode(value: number): void {
    if (value < 0x100) {
      this.code.byte(value);
    } else {
      this.code.byte(value >> 12);
      this.code.unsigned(value & 0xfff);
    }
  }

  /** An instruction without immediates. */
  op(...names: readonly PlainOp[]): void {
    for (const name of names) this.#opcode(plainOpcode(name));
  }

  /** A load, store or atomic; `align` is the base-2 logarithm of the alignment promised. */
  memory(name: MemoryOp, align: number, offset: number | bigint = 0): void {
    this.#opcode(memoryOpcode(name));
    this.code.unsigned(align);
    this.code.unsigned(Number(offset));
  }

  memoryLane(name: MemoryLaneOp, align: number, offset: number, lane: number): void {
    this.#opcode(MEMORY_LANE_OPS[name]);
    this.code.unsigned(align);
    this.code.unsigned(offset);
    this.code.byte(lane);
  }

  lane(name: LaneOp, lane: number): void {
    this.#opcode(LANE_OPS[name]);
    this.code.byte(lane);
  }

  i32(value: number): void {
    this.code.byte(OP.i32Const);
    this.code.signed(value);
  }

  i64(value: bigint | number): void {
    this.code.byte(OP.i64Const);
    this.code.signed64(BigInt(value));
  }

  f32(value: number): void {
    this.code.byte(OP.f32Const);
    this.code.f32(value);
  }

  f64(value: number): void {
    this.code.byte(OP.f64Const);
    this.code.f64(value);
  }

  /** A vector constant of four 32-bit lanes. */
  v128(lanes: Lanes): void {
    this.get(this.#vector(lanes));
  }

  #vector(lanes: Lanes): Local {
    const [a, b, c, d] = lanes;
    const splat = a === b && a === c && a === d;
    const known = splat
      ? this.#splats.get(a)
      : this.#vectors.find(({ lanes: [e, f, g, h] }) => a === e && b === f && c === g && d === h)?.local;
    if (known !== undefined) return known;
    const local = this.local('v128');
    if (splat) this.#splats.set(a, local);
    this.#vectors.push({ lanes, local });
    return local;
  }

  /** Sixteen byte numbers, 0–15 of the first operand and 16–31 of the second. */
  shuffle(bytes: readonly number[]): void {
    this.#opcode(OP.shuffle);
    this.code.bytes(bytes);
  }

  get(...locals: readonly Local[]): void {
    for (const local of locals) {
      this.code.byte(OP.localGet);
      this.code.unsigned(local);
    }
  }

  set(local: Local): void {
    this.code.byte(OP.localSet);
    this.code.unsigned(local);
  }

  tee(local: Local): void {
    this.code.byte(OP.localTee);
    this.code.unsigned(local);
  }

  /** A variable of the module (`ModuleBuilder.global`). */
  getGlobal(index: number): void {
    this.code.byte(OP.globalGet);
    this.code.unsigned(index);
  }

  setGlobal(index: number): void {
    this.code.byte(OP.globalSet);
    this.code.unsigned(index);
  }

  call(functionIndex: number): void {
    this.code.byte(OP.call);
    this.code.unsigned(functionIndex);
  }

  fence(): void {
    this.#opcode(OP.atomicFence);
    this.code.byte(0);
  }

  /** Stack: address, byte value, count. */
  memoryFill(): void {
    this.#opcode(OP.memoryFill);
    this.code.byte(0);
  }

  #open(opcode: number, result: WasmType | undefined): BranchTarget {
    this.code.byte(opcode);
    this.code.byte(result === undefined ? EMPTY_BLOCK : TYPE_BYTE[result]);
    return { depth: this.#depth++ };
  }

  block(result?: WasmType): BranchTarget {
    return this.#open(OP.block, result);
  }

  loop(result?: WasmType): BranchTarget {
    return this.#open(OP.loop, result);
  }

  if(result?: WasmType): BranchTarget {
    return this.#open(OP.if, result);
  }

  else(): void {
    this.code.byte(OP.else);
  }

  end(): void {
    this.#depth--;
    this.code.byte(OP.end);
  }

  br(target: BranchTarget): void {
    this.code.byte(OP.br);
    this.code.unsigned(this.#depth - 1 - target.depth);
  }

  brIf(target: BranchTarget): void {
    this.code.byte(OP.brIf);
    this.code.unsigned(this.#depth - 1 - target.depth);
  }

  /** The function's entry in the code section. The code is moved there. */
  body(): ByteWriter {
    const inner = new ByteWriter();
    const runs: [WasmType, number][] = [];
    for (const type of this.#locals) {
      const last = runs.at(-1);
      if (last?.[0] === type) last[1]++;
      else runs.push([type, 1]);
    }
    inner.unsigned(runs.length);
    for (const [type, count] of runs) {
      inner.unsigned(count);
      inner.byte(TYPE_BYTE[type]);
    }
    for (const { lanes, local } of this.#vectors) {
      inner.byte(OP.v128Const >> 12);
      inner.unsigned(OP.v128Const & 0xfff);
      for (const lane of lanes) inner.i32(lane);
      inner.byte(OP.localSet);
      inner.unsigned(local);
    }
    inner.append(this.code);
    inner.byte(OP.end);
    const entry = new ByteWriter();
    entry.unsigned(inner.length);
    entry.append(inner);
    return entry;
  }
}

interface Signature {
  readonly params: readonly WasmType[];
  readonly results: readonly WasmType[];
}

/** A module with one imported memory. Functions are numbered imports first: declare all imports before any function. */
export class ModuleBuilder {
  readonly #types: Signature[] = [];
  readonly #imports: { module: string; name: string; type: number }[] = [];
  readonly #functions: { type: number; code: FunctionBuilder | Uint8Array }[] = [];
  readonly #exports: { name: string; index: number }[] = [];
  readonly #globals: number[] = [];
  readonly #memory64: boolean;

  constructor(options: { memory64: boolean }) {
    this.#memory64 = options.memory64;
  }

  #type(params: readonly WasmType[], results: readonly WasmType[]): number {
    const key = (s: Signature): string => `${s.params.join()}>${s.results.join()}`;
    const wanted = { params, results };
    const found = this.#types.findIndex((s) => key(s) === key(wanted));
    return found >= 0 ? found : this.#types.push(wanted) - 1;
  }

  importFunction(module: string, name: string, params: readonly WasmType[], results: readonly WasmType[]): number {
    if (this.#functions.length > 0) throw new Error(`import ${module}.${name} declared after a function`);
    return this.#imports.push({ module, name, type: this.#type(params, results) }) - 1;
  }

  /** Declares a function, whose code may be written later. */
  function(params: readonly WasmType[], results: readonly WasmType[]): { index: number; builder: FunctionBuilder } {
    const builder = new FunctionBuilder(params);
    return { index: this.#add(params, results, builder), builder };
  }

  /** A function whose entry in the code section (`FunctionBuilder.body`) was written before. Returns its index. */
  written(params: readonly WasmType[], results: readonly WasmType[], body: Uint8Array): number {
    return this.#add(params, results, body);
  }

  #add(params: readonly WasmType[], results: readonly WasmType[], code: FunctionBuilder | Uint8Array): number {
    return this.#imports.length + this.#functions.push({ type: this.#type(params, results), code }) - 1;
  }

  /** An i32 that each instance has for itself and keeps from call to call; `initial` is below 64. Returns its index. */
  global(initial: number): number {
    return this.#globals.push(initial) - 1;
  }

  export(name: string, index: number): void {
    this.#exports.push({ name, index });
  }

  finish(): Uint8Array {
    const out = new ByteWriter();
    out.bytes([0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]);
    const section = (id: number, count: number, fill: (w: ByteWriter) => void): void => {
      const content = new ByteWriter();
      content.unsigned(count);
      fill(content);
      out.byte(id);
      out.unsigned(content.length);
      out.append(content);
    };
    section(1, this.#types.length, (w) => {
      for (const { params, results } of this.#types) {
        w.byte(0x60);
        for (const list of [params, results]) {
          w.unsigned(list.length);
          for (const type of list) w.byte(TYPE_BYTE[type]);
        }
      }
    });
    section(2, this.#imports.length + 1, (w) => {
      w.name('env');
      w.name('memory');
      // Limits: shared with a maximum (3), 64-bit addresses (4). The importer's own limits need only lie within these; V8
      // refuses maxima beyond its own bound for 64-bit memories.
      w.byte(0x02);
      w.byte(this.#memory64 ? 0x07 : 0x03);
      w.unsigned(0);
      w.unsigned(this.#memory64 ? 262144 : 65536);
      for (const { module, name, type } of this.#imports) {
        w.name(module);
        w.name(name);
        w.byte(0x00);
        w.unsigned(type);
      }
    });
    section(3, this.#functions.length, (w) => {
      for (const { type } of this.#functions) w.unsigned(type);
    });
    section(6, this.#globals.length, (w) => {
      for (const initial of this.#globals) w.bytes([TYPE_BYTE.i32, 0x01, OP.i32Const, initial, OP.end]);
    });
    section(7, this.#exports.length, (w) => {
      for (const { name, index } of this.#exports) {
        w.name(name);
        w.byte(0x00);
        w.unsigned(index);
      }
    });
    section(10, this.#functions.length, (w) => {
      for (const { code } of this.#functions) {
        if (code instanceof FunctionBuilder) w.append(code.body());
        else w.bytes(code);
      }
    });
    return out.finish();
  }
}
