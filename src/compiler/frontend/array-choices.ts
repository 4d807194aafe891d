/**
 * Arrays that are one of several, as only a thread knows: `const from = even ? a : b`, `[a, b] = [b, a]`, `rows[k]`.
 *
 * The view of such an array has a root that stands for all of them, and a number that says which it is; shape, strides and offset are
 * variables, as those of any view that is assigned again. What the root stands for grows while the kernel is evaluated. Lowering
 * makes an access to each array of it, behind a test of the number (`lower-expression.ts`), so that everything behind knows single arrays alone.
 */
import { describeElement, recordKey } from '../elements.ts';
import type { Pos } from '../source.ts';
import type { Root, TExpr } from '../types/tree.ts';
import { addIndex, mulIndex, select } from './arithmetic.ts';
import { fail } from './diagnostics.ts';
import type { Hints } from './hints.ts';
import { type Binding, isLiteral, literal, readLocal, type View } from './values.ts';

/** The arrays that a root stands for. */
export function rootsOf(root: Root): readonly Root[] {
  return root.among === undefined ? [root] : [...root.among.roots];
}

/** Whether no other thread can see the memory. */
export function isPrivate(root: Root): boolean {
  return rootsOf(root).every((r) => r.space === 'local');
}

/** Whether two roots may have memory in common; what a choice stands for is not known to its end. */
export function mayBeSame(a: Root, b: Root): boolean {
  return a === b || a.among !== undefined || b.among !== undefined;
}

/** Refuses two roots that stand for one array, or will when the kernel has been evaluated to its end. */
export function keepApart(a: Root, b: Root, refuse: () => never): void {
  const check = (): void => {
    if (rootsOf(a).some((root) => rootsOf(b).includes(root))) refuse();
  };
  check();
  for (const { among } of [a, b]) among?.watchers.push(check);
}

export function refuseLocalAtomic(name: string, pos: Pos): never {
  return fail('K334', pos, `local memory belongs to one thread: ${name} has no use there`, {
    help: 'read and write it plainly',
  });
}

/** A root that will stand for several like this one. Its space is none that anybody may rely on. */
function choiceRoot({ elem, made }: Root, name: string, pos: Pos): Root {
  const among = { roots: new Set<Root>(), into: new Set<Root>(), watchers: [] };
  return { id: -1, name, space: 'global', elem, made, pos, readonly: false, written: false, among };
}

/** Notes that what `from` stands for may be what `choice` stands for, now and later. */
function include(hints: Hints, choice: Root, from: Root, pos: Pos): void {
  if (choice.among === undefined || choice === from) return;
  from.among?.into.add(choice);
  for (const root of rootsOf(from)) {
    if (choice.among.roots.has(root)) continue;
    choice.among.roots.add(root);
    choice.open ??= root.open;
    if (choice.among.holder !== undefined) refuseOld(root, choice.among.holder, pos);
    if (choice.written) {
      storeToSite(hints, root);
      markStored(root, pos);
    }
    for (const next of choice.among.into) include(hints, next, root, pos);
    for (const watcher of choice.among.watchers) watcher();
  }
}

/** A store to constant memory that the kernel made itself: it has to be memory of the thread. */
export function storeToSite(hints: Hints, root: Root): void {
  for (const { site } of rootsOf(root)) hints.storeTo(site);
}

/** Marks memory as stored to; refuses read-only memory. */
export function markStored(root: Root, pos: Pos): void {
  root.written = true;
  if (root.among !== undefined) {
    for (const each of rootsOf(root)) markStored(each, pos);
    return;
  }
  if (root.space === 'constant') {
    fail('K241', pos, `${root.name} is a captured host array and read-only in a kernel`, {
      help: 'pass it as an argument, or capture a device array',
    });
  }
  if (root.readonly) fail('K241', pos, `${root.name} is read-only`, { help: 'pass an array that may be written' });
}

// ---------------------------------------------------------------- views of the same form

/** Whether one variable can hold both. */
export function areAlike(a: View, b: View): boolean {
  return a.axes.length === b.axes.length && hasSameElements(a, b);
}

function hasSameElements({ element: a }: View, { element: b }: View): boolean {
  if (a === b) return true;
  return a.record !== undefined && b.record !== undefined && recordKey(a.record) === recordKey(b.record);
}

/** What two arrays that cannot be one variable differ in. */
export function refuseUnlike(a: View, b: View, pos: Pos): never {
  const [first, second] =
    a.name === b.name
      ? ['the first', 'the second']
      : [calledInMessages(a.name, 'one array'), calledInMessages(b.name, 'the other')];
  const [is, other] = [a, b].map((v) => (v.axes.length === 0 ? 'an element' : `an array of rank ${v.axes.length}`));
  if (is !== other)
    return fail('K232', pos, `${first} is ${is}, ${second} ${other}: a name cannot stand for either`, {
      help: 'choose between arrays of one rank (a row, A[i], is one of rank 1), or write the code for each: if (…) … else …',
    });
  const [of, others] = [a, b].map((v) => describeElement(v.element));
  const open = a.element.open === true || b.element.open === true;
  return fail(
    'K232',
    pos,
    `${first} is an array of ${of}, ${second} one of ${others}: a name cannot stand for either`,
    {
      help: open
        ? 'make the JavaScript array one of a type: new Float32Array(16), Float32Array.of(1, 2)'
        : 'give both one element type, or write the code for each: if (…) … else …',
    },
  );
}

/** With offset and strides in bytes. */
function inBytes(view: View, pos: Pos): View {
  const { unit, disp, align } = view;
  const bytes = (e: TExpr): TExpr => mulIndex(e, literal(unit, pos), pos);
  const offset = view.offset && bytes(view.offset);
  let least = align;
  while (disp % least !== 0) least /= 2;
  return {
    ...view,
    unit: 1,
    disp: 0,
    align: least,
    axes: view.axes.map((a) => ({ extent: a.extent, stride: bytes(a.stride) })),
    offset: disp === 0 ? offset : addIndex(offset, literal(disp, pos), pos),
  };
}

function isSameLiteral(a: TExpr, b: TExpr): boolean {
  return isLiteral(a) && isLiteral(b) && a.value === b.value;
}

/** Stands where two views differ. */
function varying(pos: Pos): TExpr {
  return readLocal({ id: -1, name: '%varies', pos, stable: false }, pos);
}

/** The form of views that may be either of two: literals are what both have, all else varies. */
export function commonForm(a: View, b: View, name: string, pos: Pos): View {
  const [x, y] = a.unit === b.unit && a.disp === b.disp ? [a, b] : [inBytes(a, pos), inBytes(b, pos)];
  const leaf = (p: TExpr | undefined, q: TExpr | undefined): TExpr =>
    p !== undefined && q !== undefined && isSameLiteral(p, q) ? p : varying(pos);
  const [longer, shorter] = x.checks.length < y.checks.length ? [y, x] : [x, y];
  const root = choiceRoot({ ...x.root, made: x.root.made && y.root.made }, name, pos);
  return {
    ...x,
    root,
    name,
    which: varying(pos),
    axes: x.axes.map((axis, k) => ({
      extent: leaf(axis.extent, y.axes[k]?.extent),
      stride: leaf(axis.stride, y.axes[k]?.stride),
    })),
    checks: longer.checks.map(({ axis, extent }, k) => ({
      index: varying(pos),
      extent: leaf(extent, shorter.checks[k]?.extent),
      axis,
    })),
    offset: x.offset === undefined && y.offset === undefined ? undefined : varying(pos),
    align: Math.min(x.align, y.align),
    level: Math.min(x.level, y.level),
  };
}

/** A view in a form that has room for it: in its units, with as many checks; undefined where there is none. */
export function inForm(view: View, form: View, pos: Pos): View | undefined {
  const same = view.unit === form.unit && view.disp === form.disp;
  if (!same && (form.unit !== 1 || form.disp !== 0)) return undefined;
  const fitted = same ? view : inBytes(view, pos);
  if (fitted.align < form.align || fitted.checks.length > form.checks.length) return undefined;
  if (form.root.among === undefined && (form.root !== view.root || fitted.checks.length < form.checks.length))
    return undefined;
  if (form.offset === undefined && fitted.offset !== undefined) return undefined;
  // Where others have been given indices already, any bound holds.
  const checks = form.checks.map(
    (c, k) => fitted.checks[k] ?? { ...c, index: literal(0, pos), extent: literal(1, pos) },
  );
  const fits = form.axes.every(({ extent, stride }, k) => {
    const own = fitted.axes[k];
    return own !== undefined && hasRoom(extent, own.extent) && hasRoom(stride, own.stride);
  });
  return fits ? { ...fitted, checks } : undefined;
}

function hasRoom(form: TExpr, e: TExpr): boolean {
  return !isLiteral(form) || isSameLiteral(form, e);
}

/** The number of the root that a view has. */
export function whichOf({ root, which }: View, pos: Pos): TExpr {
  return which ?? literal(root.id, pos);
}

/** A choice of its own in the form of another. */
export function freshChoice(form: Root, name: string, pos: Pos): Root {
  return form.among === undefined ? form : choiceRoot(form, name, pos);
}

/** Notes that a view is stored in a variable whose view has the root `holder`. */
export function holdView(hints: Hints, holder: Root, { root }: View, { name, loops }: Binding, pos: Pos): void {
  if (holder.among === undefined) return refuseOld(root, { name, loops }, pos);
  holder.among.holder ??= { name, loops };
  include(hints, holder, root, pos);
}

function calledInMessages(name: string, otherwise: string): string {
  return name.startsWith('%') ? otherwise : name;
}

/** Refuses a variable for an array that the next round of a loop makes anew, in the same place. */
function refuseOld(
  { made, madeIn = 0, name: array }: Root,
  { name, loops }: Pick<Binding, 'name' | 'loops'>,
  pos: Pos,
): void {
  if (madeIn <= loops) return;
  const what = calledInMessages(array, 'this array');
  const other = made && array === what && array !== name ? array : 'next';
  fail(
    'K245',
    pos,
    `${what} is created anew in each iteration of a loop, and ${name} would still name that of the previous one`,
    {
      help: `make both before the loop, and swap them: [${name}, ${other}] = [${other}, ${name}]`,
    },
  );
}

/** One of two arrays that are alike; all that they are made of may be evaluated. */
export function eitherView(hints: Hints, cond: TExpr, a: View, b: View, pos: Pos): View {
  const form = commonForm(a, b, `${a.name} or ${b.name}`, pos);
  const [x, y] = [inForm(a, form, pos), inForm(b, form, pos)];
  if (x === undefined || y === undefined) throw new Error('two views have no form in common');
  const pick = (p: TExpr, q: TExpr): TExpr => (p === q || isSameLiteral(p, q) ? p : select(cond, p, q, pos));
  include(hints, form.root, a.root, pos);
  include(hints, form.root, b.root, pos);
  const zero = literal(0, pos);
  return {
    ...form,
    which: pick(whichOf(x, pos), whichOf(y, pos)),
    axes: x.axes.map((axis, k) => ({
      extent: pick(axis.extent, y.axes[k]?.extent ?? axis.extent),
      stride: pick(axis.stride, y.axes[k]?.stride ?? axis.stride),
    })),
    checks: x.checks.map((c, k) => ({
      index: pick(c.index, y.checks[k]?.index ?? c.index),
      extent: pick(c.extent, y.checks[k]?.extent ?? c.extent),
      axis: c.axis,
    })),
    offset: form.offset && pick(x.offset ?? zero, y.offset ?? zero),
  };
}
