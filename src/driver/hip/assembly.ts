/**
 * What stands in a code object for AMD GPUs: its instructions, by llvm-objdump where there is one, and what its notes say of the
 * kernel's registers and memory.
 */
import { nodeModule } from '../../host/index.ts';

/** LLVM User Guide for AMDGPU, "Code Object V3 Metadata". */
export interface AmdResources {
  /** Bytes of local memory (LDS) that a block has from the start. */
  readonly sharedBytes: number;
  /** Bytes of private memory of a thread. */
  readonly localBytes: number;
  readonly vectorRegisters: number;
  readonly scalarRegisters: number;
}

/** Reads the notes of a code object with one kernel. */
export function resourcesOf(code: Uint8Array): AmdResources {
  return {
    sharedBytes: noteOf(code, '.group_segment_fixed_size'),
    localBytes: noteOf(code, '.private_segment_fixed_size'),
    vectorRegisters: noteOf(code, '.vgpr_count'),
    scalarRegisters: noteOf(code, '.sgpr_count'),
  };
}

/** The unsigned number that follows a key in MessagePack; 0 where there is no such key. */
function noteOf(code: Uint8Array, key: string): number {
  const bytes = Buffer.from(code.buffer, code.byteOffset, code.byteLength);
  const at = bytes.indexOf(key);
  if (at < 0) return 0;
  const value = at + key.length;
  switch (bytes[value]) {
    case 0xcc:
      return bytes.readUInt8(value + 1);
    case 0xcd:
      return bytes.readUInt16BE(value + 1);
    case 0xce:
      return bytes.readUInt32BE(value + 1);
    default:
      return bytes[value] ?? 0;
  }
}

/** Newest first. */
const DISASSEMBLERS = ['llvm-objdump', '/opt/rocm/llvm/bin/llvm-objdump'].concat(
  Array.from({ length: 12 }, (_, k) => `llvm-objdump-${24 - k}`),
);

/** A code object as text: its resources, then its instructions, or why there are none. Synchronous. */
export function disassemble(code: Uint8Array, arch: string): string {
  const { sharedBytes, localBytes, vectorRegisters, scalarRegisters } = resourcesOf(code);
  const head =
    `; ${arch}: ${sharedBytes} bytes of LDS, ${localBytes} bytes of private memory, ` +
    `${vectorRegisters} vector registers, ${scalarRegisters} scalar registers\n`;
  const { mkdtempSync, rmSync, writeFileSync } = nodeModule('node:fs');
  const { join } = nodeModule('node:path');
  const folder = mkdtempSync(join(nodeModule('node:os').tmpdir(), 'tsamba-'));
  try {
    const file = join(folder, 'kernel.co');
    writeFileSync(file, code);
    for (const tool of DISASSEMBLERS) {
      const { status, stdout } = nodeModule('node:child_process').spawnSync(
        tool,
        ['-d', `--mcpu=${arch.split(':', 1)[0]}`, '--no-show-raw-insn', file],
        {
          encoding: 'utf8',
          maxBuffer: 1 << 28,
        },
      );
      if (status === 0) return head + instructionsOf(stdout);
    }
    return `${head}; its instructions are shown where llvm-objdump is installed\n`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Without addresses and encodings, which stand behind instructions as comments, and without what fills the last page. */
function instructionsOf(text: string): string {
  const code = text.slice(Math.max(0, text.indexOf('<'))).replace(/\s*\/\/ [^\n]*/g, '');
  return `${code.replace(/(\s+s_(nop|code_end)[^\n]*)+\s*$/, '')}\n`;
}
