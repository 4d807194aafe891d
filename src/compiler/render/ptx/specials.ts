/**
 * What does not change while a thread runs: parameters, and the values that the launch and the hardware give.
 */
import type { Special } from '../../ir/ops.ts';
import type { Operand } from './code.ts';
import { type Gen, needIsa, TYPES } from './gen.ts';

/** The value of a parameter, loaded once. */
export function parameter(g: Gen, index: number): Operand {
  const type = g.kernel.params[index]?.type;
  if (type === undefined || type === 'ptr') throw new Error(`internal error: parameter ${index} is no value`);
  if (type === 'bool') {
    const byte = g.code.once('r', 'ld.param.u8', `[param_${index}]`);
    return g.code.once('p', 'setp.ne.u32', byte, '0');
  }
  return g.code.once(TYPES[type].reg, `ld.param.${TYPES[type].bits}`, `[param_${index}]`);
}

const SPECIALS: Readonly<Record<string, string>> = {
  threadIdx: 'tid',
  blockIdx: 'ctaid',
  blockDim: 'ntid',
  gridDim: 'nctaid',
};

/** The launch's and the hardware's own values. */
export function specialValue(g: Gen, name: Special): Operand {
  switch (name) {
    case 'warpSize':
      return g.code.once('r', 'mov.u32', 'WARP_SZ');
    case 'laneId':
      return g.code.once('r', 'mov.u32', '%laneid');
    case 'sharedBytes': {
      needIsa(g, 4, 1);
      const all = g.code.once('r', 'mov.u32', '%dynamic_smem_size');
      const extra = g.layout.extraSharedBytes;
      return extra === 0 ? all : g.code.once('r', 'sub.u32', all, String(extra));
    }
    default: {
      const [what = '', axis = ''] = name.split('.');
      return g.code.once('r', 'mov.u32', `%${SPECIALS[what]}.${axis}`);
    }
  }
}

/** The thread's number in its block. */
export function linearThread(g: Gen): Operand {
  const [x, y, z] = [specialValue(g, 'threadIdx.x'), specialValue(g, 'threadIdx.y'), specialValue(g, 'threadIdx.z')];
  const [width, height] = [specialValue(g, 'blockDim.x'), specialValue(g, 'blockDim.y')];
  const row = g.code.once('r', 'mad.lo.s32', z, height, y);
  return g.code.once('r', 'mad.lo.s32', row, width, x);
}

/** The block's number in the grid, 64 bits. */
export function linearBlock(g: Gen): Operand {
  const [x, y, z] = [specialValue(g, 'blockIdx.x'), specialValue(g, 'blockIdx.y'), specialValue(g, 'blockIdx.z')];
  const [width, height] = [specialValue(g, 'gridDim.x'), specialValue(g, 'gridDim.y')];
  const rows = g.code.once('rd', 'mul.wide.u32', z, height);
  const row = g.code.once('rd', 'add.s64', rows, g.code.once('rd', 'cvt.u64.u32', y));
  const start = g.code.once('rd', 'mul.lo.s64', row, g.code.once('rd', 'cvt.u64.u32', width));
  return g.code.once('rd', 'add.s64', start, g.code.once('rd', 'cvt.u64.u32', x));
}

export const SLOTS = 'shared_slots';

/** The bracketed address of 8 bytes of shared memory for the renderer's own use, zero when the kernel starts. */
export function sharedSlot(g: Gen): Operand {
  return `[${SLOTS}+${8 * g.slots++}]`;
}

/** Clears the slots before anybody uses them. */
export function clearSlots(g: Gen): void {
  if (g.slots === 0) return;
  const first = g.code.once('p', 'setp.eq.u32', linearThread(g), '0');
  for (let k = 0; k < g.slots; k++) g.code.atStart(`@${first} st.shared.b64 [${SLOTS}+${8 * k}], 0`);
  g.code.atStart('bar.sync 0');
}
