import { generateWarps } from './test/fuzz/warp-programs.ts';
import { compileProgram } from './test/fuzz/devices.ts';
import { printKernel } from './src/compiler/ir/print.ts';
import * as P from './src/compiler/ir/print.ts';
const p = generateWarps(Number(process.argv[2]));
console.log(p.block, Object.keys(P));
const k = compileProgram(p);
console.log((P as any).print?.(k) ?? (P as any).printKernel?.(k));
