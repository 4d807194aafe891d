/**
 * Calls of functions of other languages: the PTX ABI, by which `extern "C" __device__` functions are called.
 *
 * Integers narrower than 32 bits travel as 32 bits, floats as their bits, pointers as generic addresses of 64 bits (PTX Writer's Guide to
 * Interoperability, "Data Representation" and "Function Calling Sequence").
 */
import type { StoredName } from '../../../dtype/index.ts';
import type { ExternalFunction, ExternalParam } from '../../intrinsics/external.ts';
import { ELEM_SIZE, type Expr, type Stmt, type Var, widen } from '../../ir/ops.ts';
import type { Operand } from './code.ts';
import { type Gen, inRegister, TYPES, writeVar } from './gen.ts';

/** The declaration of a function that is linked. */
export function declareExtern({ name, params, result }: ExternalFunction): string {
  const given = params.map((p, k) => `.param .${bitsOf(p)} ${name}_param_${k}`).join(', ');
  const gives = result === undefined ? '' : `(.param .${bitsOf({ elem: result, pointer: false })} ${name}_result) `;
  return `.extern .func ${gives}${name}(${given});`;
}

/** The call, with its parameters in a scope of their own. */
export function emitExtern(g: Gen, { fn, args, result }: Stmt & { op: 'extern' }): void {
  const { code } = g;
  if (fn.texts?.ptx !== undefined) return emitInstruction(g, fn.texts.ptx, args, result);
  const values = args.map((a) => {
    const value = inRegister(g, a.type, g.value(a));
    return a.type === 'bool' ? code.value('r', 'selp.b32', ['1', '0', value]) : value;
  });
  code.directive('\t{');
  for (const [k, p] of fn.params.entries()) {
    code.emit(`.param .${bitsOf(p)} given_${k}`);
    code.emit(`st.param.${p.pointer ? 'b64' : movedAs(p.elem)} [given_${k}], ${values[k]}`);
  }
  const given = `(${fn.params.map((_, k) => `given_${k}`).join(', ')})`;
  if (fn.result === undefined) {
    code.emit(`call ${fn.name}, ${given}`);
    code.directive('\t}');
    return;
  }
  const type = widen(fn.result);
  const got = code.reg(fn.result === 'bool' ? 'r' : TYPES[type].reg);
  code.emit(`.param .${bitsOf({ elem: fn.result, pointer: false })} gives`);
  code.emit(`call (gives), ${fn.name}, ${given}`);
  code.emit(`ld.param.${movedAs(fn.result)} ${got}, [gives]`);
  code.directive('\t}');
  if (result !== undefined) writeVar(g, result, narrowed(g, fn.result, got));
}

/** An instruction that takes addresses. */
function emitInstruction(g: Gen, text: string, args: readonly Expr[], result: Var | undefined): void {
  const values = args.map((a) => inRegister(g, a.type, g.value(a)));
  const got = result === undefined ? '' : g.code.reg(TYPES[result.type].reg);
  g.code.emit(text.replace(/\$(\d)/g, (_, k: string) => (k === '0' ? got : (values[Number(k) - 1] ?? ''))));
  if (result !== undefined) writeVar(g, result, got);
}

function bitsOf({ elem, pointer }: ExternalParam): 'b32' | 'b64' {
  return pointer || ELEM_SIZE[elem] === 8 ? 'b64' : 'b32';
}

function movedAs(elem: StoredName): string {
  return elem === 'bool' ? 'b32' : TYPES[widen(elem)].bits;
}

/** Of a narrow result the upper bits are not relied on. */
function narrowed(g: Gen, elem: StoredName, got: Operand): Operand {
  switch (elem) {
    case 'bool':
      return g.code.value('p', 'setp.ne.b32', [g.code.value('r', 'and.b32', [got, '255']), '0']);
    case 'i8':
    case 'i16':
      return g.code.value('r', `cvt.s32.s${8 * ELEM_SIZE[elem]}`, [got]);
    case 'u8':
    case 'u16':
      return g.code.value('r', 'and.b32', [got, elem === 'u8' ? '255' : '65535']);
    default:
      return got;
  }
}
