/**
 * Statements: structured control flow as C's, without goto, which OpenCL's compilers take badly.
 *
 * C leaves only the innermost loop. A jump further out sets a flag and breaks; behind each construct on its way the flag is
 * looked at.
 */

import { negate } from '../../ir/builder.ts';
import { type Loop, testedLoop } from '../../ir/loops.ts';
import type { Expr, Label, Stmt } from '../../ir/ops.ts';
import { hasBarrier, neverEnds, someStmt } from '../../ir/passes/walk.ts';
import { FAULT, FAULTS, PRINT, PRINTS } from '../reports.ts';
import type { PrintedValue } from '../sites.ts';
import { emitAtomic } from './atomics.ts';
import { type C, callOf, castTo, type Gen, varName } from './code.ts';
import { convert } from './convert.ts';
import { printExpr } from './expr.ts';
import { positionArguments } from './grid-positions.ts';
import { blockNumber, define, fence, threadNumber } from './helpers.ts';
import { storeElement } from './memory.ts';
import { wideAccess } from './wide.ts';

type If = Stmt & { op: 'if' };

interface Jump {
  readonly op: 'break' | 'continue';
  readonly label: Label;
}

/** What C's `break` and `continue` mean in a construct around the statement in hand. */
interface Around {
  readonly break: Jump;
  readonly continue?: Jump;
  /** Whether it holds barriers: then all threads leave it together. */
  readonly collective: boolean;
  /** Jumps that go on from its end. */
  readonly crossing: Map<string, Jump>;
}

const BOTH_FENCES = 'CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE';
const BARRIER = `barrier(${BOTH_FENCES});`;

export function emitList(g: Gen, list: readonly Stmt[]): void {
  const statements = new Statements(g);
  statements.list(list);
  statements.failures();
}

class Statements {
  readonly #g: Gen;
  readonly #around: Around[] = [];
  readonly #print: (e: Expr) => C;

  constructor(g: Gen) {
    this.#g = g;
    this.#print = (e) => printExpr(g, e);
  }

  list(list: readonly Stmt[]): void {
    for (let k = 0; k < list.length; ) {
      const done = wideAccess(this.#g, this.#print, list, k);
      if (done === 0) this.#statement(list[k] as Stmt);
      k += Math.max(done, 1);
    }
  }

  #statement(s: Stmt): void {
    const { lines } = this.#g;
    switch (s.op) {
      case 'assign':
        return lines.add(`${varName(s.var)} = ${this.#print(s.value).text};`);
      case 'store':
        return lines.add(storeElement(this.#g, this.#print, s.mem, s.value));
      case 'atomic':
        return emitAtomic(this.#g, this.#print, s);
      case 'if':
        return this.#if(s);
      case 'loop':
        return this.#loop(s);
      case 'block':
        return this.#block(s);
      case 'break':
      case 'continue':
        return this.#jump({ op: s.op, label: s.label });
      case 'return':
        return lines.add('return;');
      case 'barrier':
        return this.#barrier(s);
      case 'fence':
        return lines.add(`${fence(this.#g, s.scope)};`);
      case 'warp':
        throw new Error('internal error: an exchange between lanes was not lowered');
      case 'extern':
        return this.#extern(s);
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

  // -------------------------------------------------------------- control

  #if(s: If): void {
    const { lines } = this.#g;
    const collective = hasBarrier([s]);
    const apart = collective && this.#g.target.dialect === 'opencl';
    if (apart) lines.add(BARRIER);
    // A chain of `else if` is printed as one: C's compilers count nested braces, and allow 256.
    let otherwise = '';
    for (let next: If | undefined = s; next !== undefined; ) {
      const { cond, then, else: other }: Pick<If, 'cond' | 'then' | 'else'> = upright(next);
      lines.nest(`${otherwise}if (${this.#print(cond).text})`, () => this.#arm(then, collective));
      const [only] = other;
      next = other.length === 1 && only?.op === 'if' && !collective ? only : undefined;
      otherwise = 'else ';
      if (next === undefined && (other.length > 0 || collective))
        lines.nest('else', () => this.#arm(other, collective));
    }
    if (apart) lines.add(BARRIER);
  }

  /**
   * PoCL makes a loop over the work items of each stretch from one barrier to the next: ways that part between two must not share their
   * end. LLVM may join the barriers at the ends of both ways, and then one work item goes through what follows twice: up to the next barrier,
   * which therefore stands right behind. Another one stands before the condition: in the same stretch as what comes before, one work item
   * may go through the end of a way that none takes.
   */
  #arm(list: readonly Stmt[], collective: boolean): void {
    this.list(list);
    if (collective && !neverEnds(list)) this.#g.lines.add(BARRIER);
  }

  #block(s: Stmt & { op: 'block' }): void {
    const leave: Jump = { op: 'break', label: s.label };
    this.#construct(around(s.body, leave), 'do', s.body, ' while (false);');
    this.#meet(s.body, leave);
  }

  /** Where a jump ends that leads past barriers, and so is all threads', there is one more barrier, as at its start. */
  #meet(list: readonly Stmt[], jump: Jump): void {
    if (hasBarrier(list) && takes(list, jump)) this.#g.lines.add(BARRIER);
  }

  #construct(around: Around, head: string, body: readonly Stmt[], tail = '', update: readonly Stmt[] = []): void {
    this.#g.lines.nest(
      head,
      () => {
        this.#around.push(around);
        this.list(body);
        this.list(update);
        this.#around.pop();
      },
      tail,
    );
    for (const [key, jump] of around.crossing) this.#goOn(key, jump);
  }

  /** Behind a construct that a jump came out of. */
  #goOn(key: string, jump: Jump): void {
    this.#g.lines.nest(`if (${key})`, () => {
      if (this.#direct(jump) !== undefined) this.#g.lines.add(`${key} = false;`);
      this.#jump(jump);
    });
  }

  #direct(jump: Jump): 'break' | 'continue' | undefined {
    const innermost = this.#around.at(-1);
    if (innermost === undefined) return undefined;
    if (same(innermost.break, jump)) return 'break';
    return innermost.continue && same(innermost.continue, jump) ? 'continue' : undefined;
  }

  #jump(jump: Jump): void {
    const { lines, jumps } = this.#g;
    const to = this.#around.findLastIndex((x) => same(x.break, jump) || (x.continue && same(x.continue, jump)));
    if (this.#around[to]?.collective) lines.add(BARRIER);
    const direct = this.#direct(jump);
    if (direct !== undefined) return lines.add(`${direct};`);
    const key = `${jump.op}_${jump.label}`;
    jumps.add(key);
    for (const crossed of this.#around.slice(to + 1)) crossed.crossing.set(key, jump);
    lines.add(`${key} = true;`);
    lines.add('break;');
  }

  #loop(s: Loop): void {
    const tested = testedLoop(s);
    const body = tested?.body ?? s.body;
    const test = tested === undefined ? '' : this.#print(negate(tested.exit)).text;
    const leave: Jump = { op: 'break', label: s.label };
    const goOn: Jump = { op: 'continue', label: s.label };
    const parted = takes(body, goOn);
    if (s.update.every((x) => x.op === 'assign') && !(parted && hasBarrier(body))) {
      const steps = s.update.map((x) => (x.op === 'assign' ? `${varName(x.var)} = ${this.#print(x.value).text}` : ''));
      const head = `for (; ${test}; ${steps.join(', ')})`.replace(/ +\)$/, ')');
      this.#construct(around(body, leave, goOn), head, body);
    } else {
      const head = test === '' ? 'for (;;)' : `for (; ${test};)`;
      if (parted) this.#rounds(s, head, body);
      else this.#construct(around(body, leave), head, body, '', s.update);
    }
    this.#meet(body, leave);
  }

  /** A loop with a construct of its own for each round, at whose end the update stands. */
  #rounds(s: Loop, head: string, body: readonly Stmt[]): void {
    const outer = around(body, { op: 'break', label: s.label });
    const goOn: Jump = { op: 'continue', label: s.label };
    this.#g.lines.nest(head, () => {
      this.#around.push(outer);
      this.#construct(around(body, goOn), 'do', body, ' while (false);');
      this.#meet(body, goOn);
      this.list(s.update);
      this.#around.pop();
    });
    for (const [key, jump] of outer.crossing) this.#goOn(key, jump);
  }

  // -------------------------------------------------------------- together

  #barrier(s: Stmt & { op: 'barrier' }): void {
    const { lines } = this.#g;
    this.failures();
    if (s.pred === undefined) return lines.add(BARRIER);
    // Three counters take turns: while one is counted in, and the last one still read, the next is cleared.
    this.#g.votes = true;
    const pred = this.#print(s.kind === 'and' ? negate(s.pred) : s.pred).text;
    lines.nest(`if (${pred})`, () => lines.add('atomic_inc(&votes[vote]);'));
    lines.add(BARRIER);
    if (s.result) {
      const test = { count: '(int)votes[vote]', and: 'votes[vote] == 0', or: 'votes[vote] != 0' };
      lines.add(`${varName(s.result)} = ${test[s.kind === 'and' || s.kind === 'or' ? s.kind : 'count']};`);
    }
    lines.nest(`if (${threadNumber(this.#g)} == 0)`, () => lines.add('votes[(vote + 2) % 3] = 0;'));
    lines.add('vote = (vote + 1) % 3;');
  }

  /** C's own calling convention, and its conversions: of narrow types, and of truth values. */
  #extern({ fn, args, result }: Stmt & { op: 'extern' }): void {
    const given = args.map((a) => this.#print(a).text);
    const text = fn.texts?.hip?.replace(/\$(\d)/g, (_, k: string) => `(${given[Number(k) - 1] ?? ''})`);
    const call = text ?? `${fn.name}(${given.join(', ')})`;
    const value = fn.result === 'bool' ? `${call} != 0` : call;
    this.#g.lines.add(result === undefined ? `${call};` : `${varName(result)} = ${value};`);
  }

  // -------------------------------------------------------------- reports

  /** Where there are barriers, threads that fail only note it: calls on the ways there are more than some versions of PoCL take. */
  #trap(s: Stmt & { op: 'trap' }): void {
    this.#g.lines.add(this.#g.latent ? `failed = ${s.message}u;` : this.#report(`${s.message}u`));
  }

  /** Reports what has been noted. */
  failures(): void {
    const { latent, lines } = this.#g;
    if (!latent) return;
    lines.nest('if (failed != 0)', () => {
      lines.add(this.#report('failed'));
      lines.add('failed = 0;');
    });
  }

  #report(site: string): string {
    const g = this.#g;
    if (!g.fault) throw new Error('internal error: a trap in a kernel without faults');
    const space = g.target.dialect === 'hip' ? '' : 'global ';
    const positions = positionArguments(g).map(({ name }) => name);
    const params = [
      `${space}uchar *faults, uint launch, uint site, long index, long extent`,
      ...positions.map((name) => `uint ${name}`),
    ].join(', ');
    const word = (at: number): string => `((volatile ${space}uint *)record)[${at / 4}]`;
    const long = (at: number): string => `((volatile ${space}ulong *)record)[${at / 8}]`;
    const body = [
      `${space}uchar *record = faults + ${FAULTS.records} + (launch & ${FAULTS.most - 1}u) * ${FAULT.bytes}u;`,
      `if (atomic_xchg(&${word(FAULT.launch)}, launch) == launch) return;`,
      `atomic_add(&((volatile ${space}uint *)faults)[${FAULTS.count / 4}], 1u);`,
      // Sites are counted from 1 here: 0 is a thread that has not failed.
      `${word(FAULT.site)} = site - 1u; ${word(FAULT.thread)} = ${threadNumber(g)}; ${long(FAULT.block)} = ${blockNumber(g)};`,
      `${long(FAULT.index)} = (ulong)index; ${long(FAULT.extent)} = (ulong)extent;`,
    ].join(' ');
    const report = define(g, 'report', `void report(${params}) { ${body} }`);
    const { index, extent } = g.fault;
    const given = ['faults', 'launch_number', site, varName(index), varName(extent), ...positions];
    return `${report}(${given.join(', ')});`;
  }

  #printed(s: Stmt & { op: 'print' }): void {
    const g = this.#g;
    const { lines } = g;
    const space = g.target.dialect === 'hip' ? '' : 'global ';
    const values = s.parts.flatMap((p) => (typeof p === 'string' ? [] : [p]));
    const number = g.prints.push({
      pos: s.pos,
      parts: s.parts.map((p) => (typeof p === 'string' ? p : printedAs(p))),
      forms: s.forms,
    });
    const size = PRINT.values + 8 * values.length;
    lines.nest('', () => {
      lines.add(`uint taken = atomic_add((volatile ${space}uint *)prints, ${size}u);`);
      lines.nest(`if (taken <= ${PRINTS.bytes - PRINTS.records - size}u)`, () => {
        lines.add(`${space}uchar *record = prints + ${PRINTS.records} + taken;`);
        lines.add(`((${space}uint *)record)[${PRINT.thread / 4}] = ${threadNumber(g)};`);
        lines.add(`((${space}ulong *)record)[${PRINT.block / 8}] = ${blockNumber(g)};`);
        for (const [k, v] of values.entries()) {
          lines.add(`((${space}ulong *)record)[${PRINT.values / 8 + k}] = ${slotOf(g, v, this.#print(v)).text};`);
        }
        lines.add(`((${space}uint *)record)[${PRINT.site / 4}] = ${number}u;`);
      });
    });
  }
}

function around(body: readonly Stmt[], leave: Jump, goOn?: Jump): Around {
  return { break: leave, ...(goOn && { continue: goOn }), collective: hasBarrier(body), crossing: new Map() };
}

function same(a: Jump, b: Jump): boolean {
  return a.op === b.op && a.label === b.label;
}

function takes(list: readonly Stmt[], jump: Jump): boolean {
  return someStmt(list, (s) => s.op === jump.op && s.label === jump.label);
}

function printedAs({ type }: Expr): PrintedValue {
  return { type: type === 'i64' || type === 'u64' || type === 'bool' ? type : 'f64' };
}

/** A value as the 8 bytes that the host reads. */
function slotOf(g: Gen, { type }: Expr, value: C): C {
  if (type === 'u64') return value;
  if (type === 'i64') return castTo('ulong', value);
  return callOf('as_ulong', convert(g, type, 'f64', value));
}

/** Without an empty first arm. */
function upright(s: If): Pick<If, 'cond' | 'then' | 'else'> {
  return s.then.length === 0 && s.else.length > 0 ? { cond: negate(s.cond), then: s.else, else: s.then } : s;
}
