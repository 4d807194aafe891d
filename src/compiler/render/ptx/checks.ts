/**
 * Checked mode: bounds, conversions, exponents, asserted values; and traps, which are in every mode.
 *
 * On the way of a thread without faults a check is one comparison and one branch. What a fault reports is computed behind
 * the end of the entry; the first thread that comes there claims the record, and every one exits.
 */
import type { Expr, MemRef } from '../../ir/ops.ts';
import { isUnsigned } from '../../ir/ops.ts';
import { FAULT, FAULTS } from '../reports.ts';
import type { FaultSite } from '../sites.ts';
import type { Code, Operand } from './code.ts';
import { convert } from './convert.ts';
import { type Gen, inRegister, isWide, TYPES } from './gen.ts';
import { linearBlock, linearThread, sharedSlot } from './specials.ts';

export const FAULT_SYMBOL = 'tsamba_fault';

/** Goes to the report where `bad` holds. `index` and `extent` push what it says, as 64-bit integers. */
function failWhere(
  g: Gen,
  bad: Operand | undefined,
  site: FaultSite,
  index: () => Operand,
  extent: () => Operand,
): void {
  const { code, fault } = g;
  if (!fault) throw new Error('internal error: a fault in a kernel without faults');
  fault.used = true;
  const stub = code.label();
  code.emit(bad === undefined ? `bra ${stub}` : `@${bad} bra ${stub}`);
  const number = g.sites.push(site) - 1;
  code.cold(() => {
    code.place(stub);
    code.emit(`mov.b64 ${fault.index}, ${index()}`);
    code.emit(`mov.b64 ${fault.extent}, ${extent()}`);
    code.emit(`mov.b32 ${fault.site}, ${number}`);
    code.emit(`bra ${fault.label}`);
  });
}

const nothing = (): Operand => '0';

function asLong(g: Gen, e: Expr): Operand {
  return convert(g, e.type, 'i64', g.value(e));
}

/** The bounds checks of one access, one an axis. The same check is not made twice. */
export function checkBounds(g: Gen, mem: MemRef): void {
  if (!g.kernel.checked) return;
  for (const { index, extent, axis } of mem.checks) {
    const mixed = isWide(index.type) !== isWide(extent.type);
    const [i, n] = mixed ? [asLong(g, index), asLong(g, extent)] : [g.value(index), g.value(extent)];
    const type = mixed || isWide(index.type) ? 'u64' : 'u32';
    if (g.code.done(`below.${type}`, [i, n])) continue;
    const bad = g.code.value('p', `setp.ge.${type}`, [i, n]);
    const site: FaultSite = { kind: 'bounds', pos: mem.pos, array: mem.array, axis };
    failWhere(
      g,
      bad,
      site,
      () => asLong(g, index),
      () => asLong(g, extent),
    );
  }
}

export function checkCast(g: Gen, e: Expr & { op: 'cast' }, a: Operand, result: Operand): void {
  if (!g.kernel.checked || !e.checked || e.type === 'bool') return;
  const from = e.a.type;
  if (from === e.type) return;
  const back = inRegister(g, from, convert(g, e.type, from, result));
  const [{ bits }, float] = [TYPES[from], from === 'f32' || from === 'f64'];
  const bad = g.code.value('p', float ? `setp.neu.${from}` : `setp.ne.${bits}`, [back, a]);
  const site: FaultSite = { kind: 'cast', pos: e.pos ?? g.kernel.pos };
  failWhere(g, bad, site, () => asLong(g, e.a), nothing);
}

export function checkExponent(g: Gen, e: Expr & { op: 'binary' }, exponent: Operand): void {
  if (!g.kernel.checked || isUnsigned(e.type)) return;
  const bad = g.code.value('p', `setp.lt.${TYPES[e.type].arith}`, [exponent, '0']);
  const site: FaultSite = { kind: 'exponent', pos: e.pos ?? g.kernel.pos };
  failWhere(g, bad, site, () => asLong(g, e.b), nothing);
}

export function emitTrap(g: Gen, site: FaultSite): void {
  failWhere(g, undefined, site, nothing, nothing);
}

/** Whether the kernel can stop with a report. */
export interface Faults {
  readonly label: string;
  used: boolean;
  readonly site: Operand;
  readonly index: Operand;
  readonly extent: Operand;
}

export function faultRegisters(code: Code): Faults {
  return {
    label: '$fault',
    used: false,
    site: code.mutable('r', 'fault_site'),
    index: code.mutable('rd', 'fault_index'),
    extent: code.mutable('rd', 'fault_extent'),
  };
}

/** Where all faults come together. `launch` is the parameter with the number of the launch. */
export function emitReport(g: Gen, launch: string): void {
  const { code, fault } = g;
  if (!fault?.used) return;
  code.cold(() => {
    code.place(fault.label);
    const number = code.once('r', 'ld.param.b32', `[${launch}]`);
    const table = code.once('rd', 'mov.u64', FAULT_SYMBOL);
    const [slot, record] = [code.reg('r'), code.reg('rd')];
    code.emit(`and.b32 ${slot}, ${number}, ${FAULTS.most - 1}`);
    code.emit(`mad.wide.u32 ${record}, ${slot}, ${FAULT.bytes}, ${table}`);
    const at = (offset: number): string => `[${record}+${FAULTS.records + offset}]`;
    const [old, taken] = [code.reg('r'), code.reg('p')];
    code.emit(`atom.global.exch.b32 ${old}, ${at(FAULT.launch)}, ${number}`);
    code.emit(`setp.eq.u32 ${taken}, ${old}, ${number}`);
    code.emit(`@${taken} exit`);
    code.emit(`red.global.add.u32 [${FAULT_SYMBOL}+${FAULTS.count}], 1`);
    code.emit(`st.global.b32 ${at(FAULT.site)}, ${fault.site}`);
    code.emit(`st.global.b32 ${at(FAULT.thread)}, ${linearThread(g)}`);
    code.emit(`st.global.b64 ${at(FAULT.block)}, ${linearBlock(g)}`);
    code.emit(`st.global.b64 ${at(FAULT.index)}, ${fault.index}`);
    code.emit(`st.global.b64 ${at(FAULT.extent)}, ${fault.extent}`);
    code.emit('exit');
  });
}

/**
 * `uniform(x)`: in checked mode the first thread of the block that comes here leaves its value in shared memory, and others
 * compare. Inside loops, where the same place has many values, only threads that run together are compared.
 */
export function assertUniform(g: Gen, e: Expr & { op: 'unary' }, operand: Operand): Operand {
  if (!g.kernel.checked || g.code.done('uniform', [operand])) return operand;
  const bits = folded(g, e.a.type, operand);
  const site: FaultSite = { kind: 'uniform', pos: e.pos ?? g.kernel.pos };
  if (g.loopDepth > 0) {
    if (g.target.capability >= 70) failWhere(g, differsInWarp(g, bits), site, () => asLong(g, e.a), nothing);
    return operand;
  }
  const { code } = g;
  const slot = sharedSlot(g);
  const packed = code.value('rd', 'or.b64', [code.value('rd', 'cvt.u64.u32', [bits]), '0x100000000']);
  const old = code.reg('rd');
  code.emit(`atom.shared.cas.b64 ${old}, ${slot}, 0, ${packed}`);
  const other = code.value('p', 'setp.ne.b64', [old, packed]);
  const bad = code.value('p', 'setp.ne.and.b64', [old, '0', other]);
  failWhere(g, bad, site, () => asLong(g, e.a), nothing);
  return operand;
}

/** Whether a thread of the warp that is here as well has another value. */
function differsInWarp(g: Gen, bits: Operand): Operand {
  const { code } = g;
  const [mask, same, all] = [code.reg('r'), code.reg('r'), code.reg('p')];
  code.emit(`activemask.b32 ${mask}`);
  code.emit(`match.all.sync.b32 ${same}|${all}, ${bits}, ${mask}`);
  return code.value('p', 'not.pred', [all]);
}

/** A value of any type as 32 bits that tell different ones apart, all but always. */
function folded(g: Gen, type: Expr['type'], operand: Operand): Operand {
  const { code } = g;
  switch (type) {
    case 'bool':
      return code.value('r', 'selp.b32', ['1', '0', operand]);
    case 'f32':
      return code.value('r', 'mov.b32', [operand]);
    case 'i64':
    case 'u64':
    case 'f64': {
      const whole = type === 'f64' ? code.value('rd', 'mov.b64', [operand]) : inRegister(g, type, operand);
      const high = code.value('r', 'cvt.u32.u64', [code.value('rd', 'shr.u64', [whole, '32'])]);
      const mixed = code.value('r', 'mul.lo.u32', [high, '2654435761']);
      return code.value('r', 'xor.b32', [mixed, code.value('r', 'cvt.u32.u64', [whole])]);
    }
    default:
      return inRegister(g, type, operand);
  }
}
