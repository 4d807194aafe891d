/**
 * What threads do together: barriers of the block and of the grid, and exchange between the lanes of a warp.
 */
import type { Stmt, ValueType, WarpOp } from '../../ir/ops.ts';
import type { Operand } from './code.ts';
import { allChanged, type Gen, inRegister, isWide, needIsa, TYPES, writeVar } from './gen.ts';
import { linearBlock, sharedSlot, specialValue } from './specials.ts';

export function emitBarrier(g: Gen, s: Stmt & { op: 'barrier' }): void {
  const { code } = g;
  const pred = s.pred && g.value(s.pred);
  if (s.kind === 'grid') emitGridBarrier(g);
  else if (s.kind === 'sync' || pred === undefined) code.emit('bar.sync 0');
  else if (s.kind === 'count') {
    const count = code.reg('r');
    code.emit(`bar.red.popc.u32 ${count}, 0, ${pred}`);
    if (s.result) writeVar(g, s.result, count);
  } else {
    const all = code.reg('p');
    code.emit(`bar.red.${s.kind}.pred ${all}, 0, ${pred}`);
    if (s.result) writeVar(g, s.result, code.value('r', 'selp.b32', ['1', '0', all]));
  }
  allChanged(g);
}

/**
 * Of a cooperative launch: the driver gives each one a counter, whose address is in two environment registers, 4 bytes in.
 * The first thread of a block that comes on adds 1 for it, in the first block so much that the highest bit turns when all
 * have come; then it waits for that.
 */
function emitGridBarrier(g: Gen): void {
  const { code } = g;
  g.cooperative = true;
  const slot = sharedSlot(g);
  const [low, high] = [code.once('r', 'mov.b32', '%envreg2'), code.once('r', 'mov.b32', '%envreg1')];
  const workspace = code.once('rd', 'mov.b64', `{${low}, ${high}}`);
  const [leader, wait, done] = [code.reg('r'), code.label(), code.label()];
  const [p, rest, old, now, turned] = [code.reg('p'), code.reg('p'), code.reg('r'), code.reg('r'), code.reg('r')];
  const [width, height, depth] = [
    specialValue(g, 'gridDim.x'),
    specialValue(g, 'gridDim.y'),
    specialValue(g, 'gridDim.z'),
  ];
  const blocks = code.once('r', 'mul.lo.s32', code.once('r', 'mul.lo.s32', width, height), depth);
  const last = code.once('r', 'sub.s32', '-2147483647', blocks);
  const first = code.once('p', 'setp.eq.b64', linearBlock(g), '0');
  const step = code.once('r', 'selp.b32', last, '1', first);
  code.emit('bar.sync 0');
  code.emit(`atom.shared.exch.b32 ${leader}, ${slot}, 1`);
  code.emit('bar.sync 0');
  code.emit(`setp.ne.b32 ${p}, ${leader}, 0`);
  code.emit(`@${p} bra ${done}`);
  code.emit(`st.shared.b32 ${slot}, 0`);
  code.emit('membar.gl');
  code.emit(`atom.add.u32 ${old}, [${workspace}+4], ${step}`);
  code.place(wait);
  code.emit(`ld.volatile.u32 ${now}, [${workspace}+4]`);
  code.emit(`xor.b32 ${turned}, ${old}, ${now}`);
  code.emit(`setp.ge.s32 ${rest}, ${turned}, 0`);
  code.emit(`@${rest} bra ${wait}`);
  code.emit('membar.gl');
  code.place(done);
  code.emit('bar.sync 0');
}

export function emitRest(g: Gen, s: Stmt & { op: 'rest' }): void {
  const time = g.value(s.nanoseconds);
  if (g.target.capability < 70) return;
  needIsa(g, 6, 3);
  g.code.emit(`nanosleep.u32 ${time}`);
}

// ---------------------------------------------------------------- warps

const SHUFFLES: Readonly<Partial<Record<WarpOp, readonly [mode: string, limit: string]>>> = {
  shfl: ['idx', '31'],
  shflUp: ['up', '0'],
  shflDown: ['down', '31'],
  shflXor: ['bfly', '31'],
};

export function emitWarp(g: Gen, s: Stmt & { op: 'warp' }): void {
  const { code } = g;
  needIsa(g, 6, 0);
  const args = s.args.map((a) => inRegister(g, a.type, g.value(a)));
  const mask = s.mask ? g.value(s.mask) : '';
  const [a = '', b = ''] = args;
  const type = s.args[0]?.type ?? 'i32';
  const result = (): Operand | undefined => {
    switch (s.fn) {
      case 'sync':
        code.emit(`bar.warp.sync ${mask}`);
        return undefined;
      case 'activeMask':
        needIsa(g, 6, 2);
        return made(g, 'r', 'activemask.b32', []);
      case 'all':
      case 'any':
        return made(g, 'p', `vote.sync.${s.fn}.pred`, [a, mask]);
      case 'eq':
        return made(g, 'p', 'vote.sync.uni.pred', [a, mask]);
      case 'ballot':
        return made(g, 'r', 'vote.sync.ballot.b32', [a, mask]);
      case 'matchAny':
      case 'matchAll':
        return match(g, s.fn, type, a, mask);
      default:
        return shuffle(g, s.fn, type, a, b, mask);
    }
  };
  const value = result();
  if (s.result && value !== undefined) writeVar(g, s.result, value);
  if (s.fn === 'sync') allChanged(g);
}

/** The result of an instruction that is never left out: other threads count on it. */
function made(g: Gen, reg: 'r' | 'p' | 'rd', op: string, operands: readonly Operand[]): Operand {
  const d = g.code.reg(reg);
  g.code.emit(`${op} ${[d, ...operands].join(', ')}`);
  return d;
}

/** The bits of a value as an integer register. */
function bitsOf(g: Gen, type: ValueType, a: Operand): Operand {
  if (type === 'f32') return g.code.value('r', 'mov.b32', [a]);
  return type === 'f64' ? g.code.value('rd', 'mov.b64', [a]) : a;
}

function match(g: Gen, fn: 'matchAny' | 'matchAll', type: ValueType, a: Operand, mask: Operand): Operand {
  const size = isWide(type) || type === 'f64' ? 'b64' : 'b32';
  const bits = bitsOf(g, type, a);
  if (g.target.capability >= 70) {
    return made(g, 'r', `match.${fn === 'matchAny' ? 'any' : 'all'}.sync.${size}`, [bits, mask]);
  }
  const same = matchByTurns(g, size, bits, mask);
  if (fn === 'matchAny') return same;
  const all = g.code.value('p', 'setp.eq.b32', [same, mask]);
  return g.code.value('r', 'selp.b32', [same, '0', all]);
}

/** The lanes with the same bits, where there is no instruction for it: each lane shows its own, one after another. */
function matchByTurns(g: Gen, size: 'b32' | 'b64', bits: Operand, mask: Operand): Operand {
  const { code } = g;
  const [same, lane, bit, p] = [code.reg('r'), code.reg('r'), code.reg('r'), code.reg('p')];
  const [top, next] = [code.label(), code.label()];
  code.emit(`mov.b32 ${same}, 0`);
  code.emit(`mov.b32 ${lane}, 0`);
  code.place(top);
  code.scoped(() => {
    const shown = shuffle(g, 'shfl', size === 'b64' ? 'u64' : 'u32', bits, lane, mask);
    code.emit(`shl.b32 ${bit}, 1, ${lane}`);
    code.emit(`setp.ne.${size} ${p}, ${shown}, ${bits}`);
    code.emit(`@${p} bra ${next}`);
    code.emit(`or.b32 ${same}, ${same}, ${bit}`);
    code.place(next);
    code.emit(`add.s32 ${lane}, ${lane}, 1`);
    code.emit(`setp.lt.s32 ${p}, ${lane}, 32`);
    code.emit(`@${p} bra ${top}`);
  });
  return code.value('r', 'and.b32', [same, mask]);
}

/** Lanes give each other 32 bits at a time. */
function shuffle(g: Gen, fn: WarpOp, type: ValueType, a: Operand, lane: Operand, mask: Operand): Operand {
  const { code } = g;
  const [mode = 'idx', limit = '31'] = SHUFFLES[fn] ?? [];
  const word = (x: Operand): Operand => made(g, 'r', `shfl.sync.${mode}.b32`, [x, lane, limit, mask]);
  const bits = bitsOf(g, type, a);
  if (!isWide(type) && type !== 'f64') {
    const got = word(bits);
    return type === 'f32' ? code.value('f', 'mov.b32', [got]) : got;
  }
  const [low, high] = [code.reg('r'), code.reg('r')];
  code.emit(`mov.b64 {${low}, ${high}}, ${bits}`);
  return code.value(TYPES[type].reg, 'mov.b64', [`{${word(low)}, ${word(high)}}`]);
}
