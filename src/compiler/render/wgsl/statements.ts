/**
 * Statements: structured control flow as WGSL's. A block is a `switch` with one case, which `break` leaves and `continue` passes through.
 *
 * WGSL leaves only the innermost construct. A jump further out sets a flag and breaks; behind each construct on its way the flag is looked at.
 * Where a barrier depends on the way that is taken, all threads take that of the first one, so that WGSL's own analysis sees it (uniform.ts).
 */
import { negate } from '../../ir/builder.ts';
import { type Loop, type TestedLoop, testedLoop } from '../../ir/loops.ts';
import type { Expr, Label, Stmt, Var } from '../../ir/ops.ts';
import { someStmt } from '../../ir/passes/walk.ts';
import { FAULT, FAULTS, PRINT, PRINTS } from '../reports.ts';
import type { PrintedValue } from '../sites.ts';
import { emitAtomic } from './atomics.ts';
import { type Ordered, orderedBy } from './barriers.ts';
import { call, define, type Gen, isWide, nothing, typeOf, varName } from './code.ts';
import { printExpr } from './expr.ts';
import { storesOf } from './interleave.ts';
import { memoryOf, storeElement, storeVector } from './memory.ts';
import { refuseAt } from './refuse.ts';
import { type Scopes, scopesOf } from './scopes.ts';
import { noteSum } from './sums.ts';
import { collectiveLabels, isCollective, isUniform } from './uniform.ts';
import { emitWarp } from './warps.ts';
import { wide } from './words.ts';

interface Jump {
  readonly op: 'break' | 'continue';
  readonly label: Label;
}

/** A construct around the statement in hand: the jump that WGSL's `break` makes of it, and the one that `continue` does. */
interface Around {
  readonly break: Jump;
  readonly continue?: Jump | undefined;
  readonly loops: boolean;
  /** Jumps that go on from its end. */
  readonly crossing: Map<string, Jump>;
}

const BARRIER = 'workgroupBarrier();';

/** Both are barriers of the threads; each orders one kind of memory. */
function barrierFor({ buffers, workgroup }: Ordered): string {
  return buffers ? `storageBarrier();${workgroup ? ` ${BARRIER}` : ''}` : BARRIER;
}

type Assign = Stmt & { readonly op: 'assign' };

export function emitList(g: Gen, list: readonly Stmt[]): void {
  const statements = new Statements(g);
  statements.list(list);
  statements.failures();
}

class Statements {
  readonly #g: Gen;
  readonly #around: Around[] = [];
  readonly #print: (e: Expr) => string;
  readonly #collective: ReadonlySet<Label>;
  readonly #ordered: ReadonlyMap<Stmt, Ordered>;
  readonly #scopes: Scopes;

  constructor(g: Gen) {
    const { body } = g.kernel;
    this.#g = g;
    this.#print = (e) => printExpr(g, e);
    this.#collective = collectiveLabels(body);
    this.#ordered = orderedBy(body, (mem) => memoryOf(g, mem));
    this.#scopes = scopesOf(body, g.fault === undefined ? [] : Object.values(g.fault));
  }

  list(list: readonly Stmt[]): void {
    for (let k = 0; k < list.length; k++) {
      const [s, next] = [list[k] as Stmt, list[k + 1]];
      if (s.op === 'assign' && next?.op === 'loop' && this.#counts(s, next)) {
        this.#loop(next, s);
        k++;
      } else {
        const more = this.#vector(list, k);
        if (more === 0) this.#statement(s);
        k += more;
      }
    }
  }

  /** Writes the stores from `list[k]` on to all arrays of vectors, if that is one: how many more there are than this. */
  #vector(list: readonly Stmt[], k: number): number {
    const s = list[k] as Stmt;
    const arrays = s.op === 'store' ? memoryOf(this.#g, s.mem).lane?.arrays : undefined;
    const stores = arrays && storesOf(arrays, list, k);
    if (stores === undefined) return 0;
    this.#g.lines.add(storeVector(this.#g, this.#print, stores));
    return stores.length - 1;
  }

  /** Whether a variable is known in a loop alone, which begins with this value and changes it between its rounds. */
  #counts(start: Assign, loop: Loop): boolean {
    const { var: counter } = start;
    return this.#header(loop)?.var === counter && this.#scopes.isCounterOf(start, loop);
  }

  /** The one statement of a loop's update, where the loop can be written as `for`. */
  #header(loop: Loop): Assign | undefined {
    const [update] = loop.update;
    if (loop.update.length !== 1 || update?.op !== 'assign') return undefined;
    const [test] = loop.body;
    if (testedLoop(loop) === undefined || test?.op !== 'if') return undefined;
    const apart = isCollective(test, this.#collective) && !isUniform(test.cond, this.#g.uniform);
    return apart ? undefined : update;
  }

  #statement(s: Stmt): void {
    const { lines, kernel } = this.#g;
    switch (s.op) {
      case 'assign':
        lines.add(`${this.#assigned(s)} = ${this.#print(s.value)};`);
        return noteSum(this.#g, s.var.id, s.value);
      case 'store':
        return lines.add(storeElement(this.#g, this.#print, s.mem, s.value));
      case 'atomic':
        return emitAtomic(this.#g, this.#print, s);
      case 'if':
        return this.#if(s);
      case 'loop':
        return this.#loop(s);
      case 'block':
        return this.#switch({ op: 'break', label: s.label }, s.body);
      case 'break':
      case 'continue':
        return this.#jump({ op: s.op, label: s.label });
      case 'return':
        return lines.add('return;');
      case 'barrier':
        return this.#barrier(s);
      case 'fence':
        return refuseAt(
          kernel,
          s.pos,
          'E_FENCE',
          'has a fence, and WebGPU orders memory by barriers alone',
          'use cuda.syncThreads() within a block; end the kernel where other blocks must see what was stored',
        );
      case 'warp':
        return emitWarp(this.#g, this.#print, s);
      case 'extern':
        throw new Error('internal error: externals were not settled');
      case 'rest':
        return undefined;
      case 'print':
        return this.#printed(s);
      case 'trap':
        return this.#trap(s);
      default:
        return s satisfies never;
    }
  }

  /** WGSL's compilers know the range of what never changes. */
  #assigned(s: Assign): string {
    const name = varName(s.var);
    if (!this.#scopes.isConstant(s)) return name;
    this.#g.scoped.add(s.var.id);
    return `let ${name}`;
  }

  // -------------------------------------------------------------- control

  #if(s: Stmt & { op: 'if' }): void {
    const { lines, uniform } = this.#g;
    const apart = isCollective(s, this.#collective) && !isUniform(s.cond, uniform);
    const cond = apart ? this.#agreed(this.#print(s.cond)) : this.#print(s.cond);
    if (s.then.length === 0 && s.else.length > 0) {
      lines.nest(`if (!${cond})`, () => this.list(s.else));
      return;
    }
    lines.nest(`if (${cond})`, () => this.list(s.then));
    if (s.else.length > 0) lines.nest('else', () => this.list(s.else));
  }

  /** A condition that is the same in all threads, as WGSL sees it. */
  #agreed(cond: string): string {
    const { lines } = this.#g;
    define(this.#g, 'agreed', 'var<workgroup> agreed: u32;');
    lines.add(`if (number == 0u) { agreed = u32(${cond}); }`);
    return '(workgroupUniformLoad(&agreed) != 0u)';
  }

  /** What is left by `break`. */
  #switch(leave: Jump, body: readonly Stmt[]): void {
    this.#construct({ break: leave, loops: false, crossing: new Map() }, 'switch 0i', () =>
      this.#g.lines.nest('default:', () => this.list(body)),
    );
  }

  /** `start` is the counter's first value, where there is a counter that nobody else knows. */
  #loop(s: Loop, start?: Assign): void {
    const { lines } = this.#g;
    const update = this.#header(s);
    const tested = testedLoop(s);
    if (update !== undefined && tested !== undefined) return this.#for(s, tested, update, start);
    const leave: Jump = { op: 'break', label: s.label };
    const goOn: Jump = { op: 'continue', label: s.label };
    // Nothing may leave a loop from where its update stands; then a round is a construct of its own, and the update comes behind it.
    const rounds = someStmt(s.update, (x) => x.op === 'break' || x.op === 'continue' || x.op === 'return');
    const around = { break: leave, ...(!rounds && { continue: goOn }), loops: true, crossing: new Map() };
    this.#construct(around, 'loop', () => {
      if (rounds) this.#switch(goOn, s.body);
      else this.list(s.body);
      // A loop that nothing leaves is no program of WGSL's.
      const left = someStmt([...s.body, ...s.update], (x) => x.op === 'return' || x.op === 'break');
      if (!left) lines.add(`if (${nothing(this.#g)} != 0u) { break; }`);
      if (rounds) this.list(s.update);
      else if (s.update.length > 0) lines.nest('continuing', () => this.list(s.update));
    });
  }

  /** WGSL's compilers know the range of a counter that is declared where a loop begins, and leave out what they would check of indices. */
  #for(s: Loop, { exit, body }: TestedLoop, update: Assign, start: Assign | undefined): void {
    const g = this.#g;
    if (start !== undefined) {
      g.scoped.add(start.var.id);
      noteSum(g, start.var.id, start.value);
    }
    const from = start === undefined ? '' : `var ${declared(start.var)} = ${this.#print(start.value)}`;
    const cond = this.#print(negate(exit));
    const step = `${varName(update.var)} = ${this.#print(update.value)}`;
    const leave: Jump = { op: 'break', label: s.label };
    const goOn: Jump = { op: 'continue', label: s.label };
    this.#construct(
      { break: leave, continue: goOn, loops: true, crossing: new Map() },
      `for (${from}; ${cond}; ${step})`,
      () => this.list(body),
    );
    noteSum(g, update.var.id, update.value);
  }

  #construct(around: Around, head: string, body: () => void): void {
    this.#g.lines.nest(head, () => {
      this.#around.push(around);
      body();
      this.#around.pop();
    });
    for (const [key, jump] of around.crossing) this.#goOn(key, jump);
  }

  /** Behind a construct that a jump came out of. */
  #goOn(key: string, jump: Jump): void {
    const cond = this.#collective.has(jump.label) ? this.#agreed(key) : key;
    this.#g.lines.nest(`if (${cond})`, () => {
      if (this.#direct(jump) !== undefined) this.#g.lines.add(`${key} = false;`);
      this.#jump(jump);
    });
  }

  #direct(jump: Jump): 'break' | 'continue' | undefined {
    if (same(this.#around.at(-1)?.break, jump)) return 'break';
    return same(this.#around.findLast((x) => x.loops)?.continue, jump) ? 'continue' : undefined;
  }

  #jump(jump: Jump): void {
    const { lines, jumps } = this.#g;
    const direct = this.#direct(jump);
    if (direct !== undefined) return lines.add(`${direct};`);
    const to = this.#around.findLastIndex((x) => same(x.break, jump) || same(x.continue, jump));
    const key = `${jump.op}_${jump.label}`;
    jumps.add(key);
    for (const crossed of this.#around.slice(to + 1)) crossed.crossing.set(key, jump);
    lines.add(`${key} = true;`);
    lines.add('break;');
  }

  // -------------------------------------------------------------- together

  #barrier(s: Stmt & { op: 'barrier' }): void {
    const { lines } = this.#g;
    this.failures();
    const ordered = this.#ordered.get(s) as Ordered;
    if (s.pred === undefined) return lines.add(barrierFor(ordered));
    define(this.#g, 'votes', 'var<workgroup> votes: atomic<u32>;');
    const pred = this.#print(s.kind === 'and' ? negate(s.pred) : s.pred);
    lines.add('if (number == 0u) { atomicStore(&votes, 0u); }');
    lines.add(barrierFor({ ...ordered, workgroup: true }));
    lines.add(`if (${pred}) { atomicAdd(&votes, 1u); }`);
    lines.add(BARRIER);
    if (s.result) {
      const count = 'atomicLoad(&votes)';
      const test = { count: `i32(${count})`, and: `i32(${count} == 0u)`, or: `i32(${count} != 0u)` };
      lines.add(`${varName(s.result)} = ${test[s.kind === 'and' || s.kind === 'or' ? s.kind : 'count']};`);
    }
    // Nobody counts anew before all have read.
    lines.add(BARRIER);
  }

  // -------------------------------------------------------------- reports

  /** Where there are barriers, threads that fail only note it, so that all of them come to the next one. */
  #trap(s: Stmt & { op: 'trap' }): void {
    this.#g.lines.add(this.#g.latent ? `failed = ${s.message}u;` : this.#report(`${s.message}u`));
  }

  /** Reports what has been noted. */
  failures(): void {
    const { latent, lines } = this.#g;
    if (latent) lines.nest('if (failed != 0u)', () => lines.add(`${this.#report('failed')} failed = 0u;`));
  }

  #report(site: string): string {
    const g = this.#g;
    if (!g.fault) throw new Error('internal error: a trap in a kernel without faults');
    const put = (at: number, x: string): string => `atomicStore(&faults[at + ${at / 4}u], ${x});`;
    const long = (at: number, x: string): string => `${put(at, `${x}.x`)} ${put(at + 4, `${x}.y`)}`;
    const body = [
      `let at = ${FAULTS.records / 4}u + (launch & ${FAULTS.most - 1}u) * ${FAULT.bytes / 4}u;`,
      `if (atomicExchange(&faults[at + ${FAULT.launch / 4}u], launch) == launch) { return; }`,
      `atomicAdd(&faults[${FAULTS.count / 4}], 1u);`,
      // Sites are counted from 1 here: 0 is a thread that has not failed.
      `${put(FAULT.site, 'site - 1u')} ${put(FAULT.thread, 'thread')} ${long(FAULT.block, 'block')}`,
      `${long(FAULT.index, 'index')} ${long(FAULT.extent, 'extent')}`,
    ].join(' ');
    const wides = ['block', 'index', 'extent'].map((name) => `${name}: vec2<u32>`).join(', ');
    const report = define(g, 'report', `fn report(launch: u32, site: u32, thread: u32, ${wides}) { ${body} }`);
    const { index, extent } = g.fault;
    return `${call(report, 'launch_number', site, 'number', this.#blockNumber(), varName(index), varName(extent))};`;
  }

  #blockNumber(): string {
    const [mul, add] = [wide(this.#g, 'mul_64'), wide(this.#g, 'add_64')];
    const u = (name: string): string => `vec2<u32>(u32(${name}), 0u)`;
    const row = call(add, call(mul, u('block_z'), u('blocks_y')), u('block_y'));
    return call(add, call(mul, row, u('blocks_x')), u('block_x'));
  }

  #printed(s: Stmt & { op: 'print' }): void {
    const g = this.#g;
    const { lines } = g;
    const values = s.parts.flatMap((p) => (typeof p === 'string' ? [] : [p]));
    const number = g.prints.push({
      pos: s.pos,
      parts: s.parts.map((p) => (typeof p === 'string' ? p : printedAs(p))),
      forms: s.forms,
    });
    const size = PRINT.values + 8 * values.length;
    const put = (at: number, x: string): void => lines.add(`atomicStore(&prints[at + ${at / 4}u], ${x});`);
    lines.nest('', () => {
      lines.add(`let taken = atomicAdd(&prints[${PRINTS.taken / 4}], ${size}u);`);
      lines.nest(`if (taken <= ${PRINTS.bytes - PRINTS.records - size}u)`, () => {
        lines.add(`let at = (${PRINTS.records}u + taken) >> 2u;`);
        put(PRINT.thread, 'number');
        lines.add(`let block = ${this.#blockNumber()};`);
        put(PRINT.block, 'block.x');
        put(PRINT.block + 4, 'block.y');
        for (const [k, v] of values.entries()) {
          const x = this.#print(v);
          const at = PRINT.values + 8 * k;
          const [low, high] = isWide(v.type)
            ? [`${x}.x`, `${x}.y`]
            : v.type === 'bool'
              ? ['0u', `select(0u, 0x3ff00000u, ${x})`]
              : [v.type === 'u32' ? x : `bitcast<u32>(${x})`, '0u'];
          put(at, low);
          put(at + 4, high);
        }
        put(PRINT.site, `${number}u`);
      });
    });
  }
}

function declared(v: Var): string {
  return `${varName(v)}: ${typeOf(v.type)}`;
}

function same(a: Jump | undefined, b: Jump): boolean {
  return a?.op === b.op && a.label === b.label;
}

function printedAs({ type }: Expr): PrintedValue {
  return { type };
}
