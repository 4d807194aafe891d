/**
 * The PTX of the copy and fill kernels: one module for each unit of 1 to 16 bytes, over up to eight strided axes.
 *
 * A thread takes four units a round, a block apart, so that neighbouring threads touch neighbouring places of the target's
 * fastest axis and four loads are under way at once. All four go through the axes together: index → (quotient, remainder)
 * by multiplication (`divider` in launches.ts), remainder × stride added to both addresses. Written for sm_50, which every
 * later device takes.
 */
import { MAX_AXES, PARAMETERS, type Unit } from '../copies/launches.ts';
import { BLOCK, entryName, PER_THREAD } from '../cuda-api/copies/kernel-runner.ts';

/** How a unit is loaded and stored, and the registers that hold it. */
const ACCESS: Record<Unit, { suffix: string; declare: string; words: number }> = {
  1: { suffix: 'u8', declare: '.b32', words: 1 },
  2: { suffix: 'u16', declare: '.b32', words: 1 },
  4: { suffix: 'u32', declare: '.b32', words: 1 },
  8: { suffix: 'u64', declare: '.b64', words: 1 },
  16: { suffix: 'v2.u64', declare: '.b64', words: 2 },
};

const items: readonly number[] = Array.from({ length: PER_THREAD }, (_, k) => k);

/** The text of the module with one kernel. One each: compiling takes about ten milliseconds an entry. */
export function moduleText(kind: 'copy' | 'fill', unit: Unit): string {
  return `.version 6.0\n.target sm_50\n.address_size 64\n${entry(unit, kind === 'copy')}`;
}

/** One kernel: a copy, or a fill, which has no source. */
function entry(unit: Unit, copies: boolean): string {
  const { suffix, declare, words } = ACCESS[unit];
  const value = (k: number): string =>
    words === 1 ? `%v${k}` : `{${Array.from({ length: words }, (_, w) => `%v${k * words + w}`).join(', ')}}`;
  // 1- and 2-byte values live in 32-bit registers: loads widen, stores narrow.
  const load = items.map((k) => `@%in${k} ld.global.${suffix} ${value(k)}, [%s${k}];`);
  const held = copies ? items : [0];
  const store = items.map((k) => `@%in${k} st.global.${suffix} [%t${k}], ${value(copies ? k : 0)};`);
  const pattern = `ld.param.${suffix} ${value(0)}, [p+${PARAMETERS.pattern}];`;
  return lines(
    `.visible .entry ${entryName(copies ? 'copy' : 'fill', unit)}(.param .align 16 .b8 p[${PARAMETERS.bytes}])`,
    `.maxntid ${BLOCK}, 1, 1`,
    '{',
    '.reg .pred %in<4>, %end;',
    '.reg .b32 %base, %step, %count, %rank, %width, %n, %m, %h, %i<4>, %k<4>, %q<4>, %x<4>;',
    '.reg .b64 %target, %source, %ts, %ss, %w, %t<4>, %s<4>;',
    `.reg ${declare} %v<${held.length * words}>;`,
    `ld.param.u64 %target, [p+${PARAMETERS.target}];`,
    ...(copies ? [`ld.param.u64 %source, [p+${PARAMETERS.source}];`] : [pattern]),
    `ld.param.u32 %count, [p+${PARAMETERS.count}];`,
    `ld.param.u32 %rank, [p+${PARAMETERS.rank}];`,
    'mov.u32 %width, %ntid.x;',
    // base = block × width × 4 + thread; a round of the grid is gridDim × width × 4.
    'mov.u32 %x0, %ctaid.x;',
    'mov.u32 %x1, %tid.x;',
    `mul.lo.u32 %step, %width, ${PER_THREAD};`,
    'mad.lo.u32 %base, %x0, %step, %x1;',
    'mov.u32 %x2, %nctaid.x;',
    'mul.lo.u32 %step, %step, %x2;',
    'ROUND:',
    ...items.flatMap((k) => start(k, copies)),
    ...Array.from({ length: MAX_AXES }, (_, axis) => walkAxis(axis, copies)).flat(),
    'MOVE:',
    ...(copies ? load : []),
    ...store,
    'add.u32 %base, %base, %step;',
    'setp.lt.u32 %end, %base, %count;',
    '@%end bra ROUND;',
    'ret;',
    '}',
  );
}

/** Index and addresses of the k-th unit of a thread. */
function start(k: number, copies: boolean): string[] {
  return [
    `mad.lo.u32 %i${k}, %width, ${k}, %base;`,
    `setp.lt.u32 %in${k}, %i${k}, %count;`,
    `mov.u64 %t${k}, %target;`,
    ...(copies ? [`mov.u64 %s${k}, %source;`] : []),
  ];
}

/** Takes the coordinate along one axis off each index; leaves the loop where there is no such axis. */
function walkAxis(axis: number, copies: boolean): string[] {
  const at = PARAMETERS.axes + axis * PARAMETERS.axisBytes;
  const each = items.flatMap((k) => [
    `mul.hi.u32 %q${k}, %i${k}, %m;`,
    `add.u32 %q${k}, %q${k}, %i${k};`,
    `shr.u32 %q${k}, %q${k}, %h;`,
    `mul.lo.u32 %k${k}, %q${k}, %n;`,
    `sub.u32 %k${k}, %i${k}, %k${k};`,
    `mov.u32 %i${k}, %q${k};`,
    `cvt.u64.u32 %w, %k${k};`,
    `mad.lo.s64 %t${k}, %w, %ts, %t${k};`,
    ...(copies ? [`mad.lo.s64 %s${k}, %w, %ss, %s${k};`] : []),
  ]);
  return [
    `setp.le.u32 %end, %rank, ${axis};`,
    '@%end bra MOVE;',
    `ld.param.u32 %n, [p+${at}];`,
    `ld.param.u32 %m, [p+${at + 4}];`,
    `ld.param.u32 %h, [p+${at + 8}];`,
    `ld.param.u64 %ts, [p+${at + 16}];`,
    ...(copies ? [`ld.param.u64 %ss, [p+${at + 24}];`] : []),
    ...each,
  ];
}

function lines(...text: readonly string[]): string {
  return `${text.join('\n')}\n`;
}
