/**
 * WebAssembly modules as text, for `kernel.inspect({ target: 'wasm' })`.
 *
 * The inverse of render/wasm/assembler.ts over the same opcode tables, in the linear form of the text format: one
 * instruction a line, indented by structure. Reads what that assembler writes, not every module there is.
 */
import { allOps, OP } from '../../compiler/render/wasm/opcodes.ts';

const TYPES: Readonly<Record<number, string>> = {
  127: 'i32',
  126: 'i64',
  125: 'f32',
  124: 'f64',
  123: 'v128',
};

type Immediates = 'none' | 'memory' | 'memoryLane' | 'lane';

interface Instruction {
  readonly name: string;
  readonly immediates: Immediates;
}

/** Instructions by the number that the opcode tables give them; made when code is first read, as pages load the tables by then. */
let known: ReadonlyMap<number, Instruction> | undefined;

function instructions(): ReadonlyMap<number, Instruction> {
  const all = Object.entries(allOps()) as [Immediates, Readonly<Record<string, number>>][];
  return new Map(
    all.flatMap(([immediates, table]) =>
      Object.entries(table).map(([name, code]) => [code, { name, immediates }] as const),
    ),
  );
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get length(): number {
    return this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.at++] ?? 0;
  }

  unsigned(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  }

  signed(): bigint {
    let value = 0n;
    let shift = 0n;
    for (;;) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
      if (byte < 0x80) return BigInt.asIntN(Number(shift), value);
    }
  }

  f32(): number {
    this.at += 4;
    return this.#view.getFloat32(this.at - 4, true);
  }

  f64(): number {
    this.at += 8;
    return this.#view.getFloat64(this.at - 8, true);
  }

  bytes(count: number): Uint8Array {
    this.at += count;
    return this.#bytes.subarray(this.at - count, this.at);
  }

  name(): string {
    return new TextDecoder().decode(this.bytes(this.unsigned()));
  }

  types(): string {
    return Array.from({ length: this.unsigned() }, () => TYPES[this.byte()] ?? '?').join(' ');
  }
}

/** Types, imports, functions, globals, exports and code. */
const KNOWN_SECTIONS: ReadonlySet<number> = new Set([1, 2, 3, 6, 7, 10]);

/** The module as text. */
export function disassemble(bytes: Uint8Array): string {
  const reader = new Reader(bytes);
  reader.at = 8;
  const lines: string[] = [];
  const signatures: string[] = [];
  const functions: number[] = [];
  let imports = 0;
  while (reader.at < reader.length) {
    const id = reader.byte();
    const end = reader.unsigned() + reader.at;
    const count = reader.unsigned();
    for (let i = 0; i < count && KNOWN_SECTIONS.has(id); i++) {
      if (id === 1) signatures.push(signature(reader));
      else if (id === 3) functions.push(reader.unsigned());
      else if (id === 2) imports += importLine(reader, signatures, imports, lines);
      else if (id === 6) lines.push(globalLine(reader));
      else if (id === 7) {
        const name = reader.name();
        reader.byte();
        lines.push(`  (export "${name}" (func ${reader.unsigned()}))`);
      } else functionLines(reader, `${imports + i} ${signatures[functions[i] ?? 0]}`, lines);
    }
    reader.at = end;
  }
  return `(module\n${lines.join('\n')}\n)\n`;
}

function signature(reader: Reader): string {
  reader.byte();
  const params = reader.types();
  const results = reader.types();
  return `(param${params && ` ${params}`})${results && ` (result ${results})`}`;
}

/** 1 when a function was imported, 0 for the memory. */
function importLine(reader: Reader, signatures: readonly string[], index: number, lines: string[]): number {
  const from = `"${reader.name()}" "${reader.name()}"`;
  if (reader.byte() === 0) {
    lines.push(`  (import ${from} (func ${index} ${signatures[reader.unsigned()]}))`);
    return 1;
  }
  const flags = reader.byte();
  const least = reader.unsigned();
  const most = reader.unsigned();
  lines.push(`  (import ${from} (memory ${flags & 4 ? 'i64 ' : ''}${least} ${most} shared))`);
  return 0;
}

function globalLine(reader: Reader): string {
  const type = TYPES[reader.byte()];
  const mutable = reader.byte() === 1;
  const initial = instruction(reader);
  // The end of the expression.
  reader.byte();
  return `  (global ${mutable ? `(mut ${type})` : type} (${initial}))`;
}

function functionLines(reader: Reader, head: string, lines: string[]): void {
  const end = reader.unsigned() + reader.at;
  lines.push(`  (func ${head}`);
  for (let groups = reader.unsigned(); groups > 0; groups--) {
    const count = reader.unsigned();
    lines.push(`    (local ${`${TYPES[reader.byte()]} `.repeat(count).trim()})`);
  }
  let depth = 2;
  while (reader.at < end - 1) {
    const text = instruction(reader);
    if (text === 'end' || text === 'else') depth--;
    lines.push(`${'  '.repeat(depth)}${text}`);
    if (/^(block|loop|if|else)\b/.test(text)) depth++;
  }
  reader.at = end;
  lines.push('  )');
}

function instruction(reader: Reader): string {
  const first = reader.byte();
  const code = first >= 0xfc ? (first << 12) | reader.unsigned() : first;
  known ??= instructions();
  const found = known.get(code);
  if (found !== undefined) return `${found.name}${immediates(reader, found.immediates)}`;
  switch (code) {
    case OP.block:
    case OP.loop:
    case OP.if: {
      const result = TYPES[reader.byte()];
      const name = code === OP.block ? 'block' : code === OP.loop ? 'loop' : 'if';
      return result === undefined ? name : `${name} (result ${result})`;
    }
    case OP.else:
      return 'else';
    case OP.end:
      return 'end';
    case OP.br:
      return `br ${reader.unsigned()}`;
    case OP.brIf:
      return `br_if ${reader.unsigned()}`;
    case OP.call:
      return `call ${reader.unsigned()}`;
    case OP.localGet:
      return `local.get ${reader.unsigned()}`;
    case OP.localSet:
      return `local.set ${reader.unsigned()}`;
    case OP.localTee:
      return `local.tee ${reader.unsigned()}`;
    case OP.globalGet:
      return `global.get ${reader.unsigned()}`;
    case OP.globalSet:
      return `global.set ${reader.unsigned()}`;
    case OP.i32Const:
      return `i32.const ${reader.signed()}`;
    case OP.i64Const:
      return `i64.const ${reader.signed()}`;
    case OP.f32Const:
      return `f32.const ${reader.f32()}`;
    case OP.f64Const:
      return `f64.const ${reader.f64()}`;
    case OP.v128Const:
      return `v128.const i32x4 ${new Int32Array(reader.bytes(16).slice().buffer).join(' ')}`;
    case OP.shuffle:
      return `i8x16.shuffle ${reader.bytes(16).join(' ')}`;
    case OP.memoryFill:
      reader.byte();
      return 'memory.fill';
    case OP.memoryCopy:
      reader.bytes(2);
      return 'memory.copy';
    case OP.atomicFence:
      reader.byte();
      return 'atomic.fence';
    default:
      throw new Error(`internal error: unknown WebAssembly instruction 0x${code.toString(16)}`);
  }
}

function immediates(reader: Reader, kind: Immediates): string {
  if (kind === 'none') return '';
  if (kind === 'lane') return ` ${reader.byte()}`;
  const align = reader.unsigned();
  const offset = reader.unsigned();
  const memory = `${offset === 0 ? '' : ` offset=${offset}`} align=${2 ** align}`;
  return kind === 'memory' ? memory : `${memory} ${reader.byte()}`;
}
