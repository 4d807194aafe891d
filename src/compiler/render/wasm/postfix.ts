/**
 * A short notation for helper functions: WebAssembly instructions of scalars in postfix order, with named locals.
 *
 *   x            local.get          =x          local.set           ~x          local.tee
 *   i64#-1       a constant         f64.add     an instruction      if else end, if:i64 with a result
 *
 * Numbers may be decimal, hexadecimal, or powers like 2^112.
 */
import type { FunctionBuilder, Local, WasmType } from './assembler.ts';
import { isScalarOp } from './opcodes.ts';

export function writePostfix(f: FunctionBuilder, locals: Readonly<Record<string, Local>>, text: string): void {
  const local = (name: string): Local => {
    const index = locals[name];
    if (index === undefined) throw new Error(`no local '${name}'`);
    return index;
  };
  for (const word of text.trim().split(/\s+/)) {
    const constant = /^(i32|i64|f32|f64)#(.+)$/.exec(word);
    if (isScalarOp(word)) f.op(word);
    else if (constant) writeConstant(f, constant[1] as WasmType, constant[2] ?? '');
    else if (word === 'if') f.if();
    else if (word.startsWith('if:')) f.if(word.slice(3) as WasmType);
    else if (word === 'else') f.else();
    else if (word === 'end') f.end();
    else if (word.startsWith('=')) f.set(local(word.slice(1)));
    else if (word.startsWith('~')) f.tee(local(word.slice(1)));
    else f.get(local(word));
  }
}

function writeConstant(f: FunctionBuilder, type: WasmType, digits: string): void {
  const power = /^2\^(-?\d+)$/.exec(digits);
  if (type === 'i64') f.i64(power ? 1n << BigInt(power[1] ?? 0) : BigInt(digits));
  else if (type !== 'v128') f[type](power ? 2 ** Number(power[1]) : Number(digits));
}
