/**
 * Divides the compiler of the half for pages into what the simplest kernels need, what simple ones do, what most others do, texts of errors and the rest, which are loaded when a kernel needs them.
 *
 * What `page-kernels.mjs` has not seen reached moves from `x.js` into modules beside it, `x.rest.js` and others, with the tables that only that reads: functions, and regions of others
 * (`page-regions.mjs`). Where others call one, a function of its name stays that takes it out of a part (`on-demand.ts`): compiling that lacks the part is begun again when it has been loaded. This is
 * sound only for what nothing else runs, so modules are left alone that not only `front.page.ts` and the compilers of devices lead to.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import MagicString from 'magic-string';
import { Module } from './module-names.mjs';
import { Division, exportOf, importing, itemOf, path } from './page-division.mjs';
import { withoutPrivates } from './page-privates.mjs';
import { MISSING, REGION, withRegions } from './page-regions.mjs';

const PROBE = fileURLToPath(new URL('./page-kernels.mjs', import.meta.url));
/** Functions of so many characters are no longer than what would stand in their place. */
const SHORT = 120;

/** Modules that are run by those alone who begin again when a part has been loaded: what they import may be divided. */
const BEGUN_AGAIN =
  /[\\/]compiler[\\/](?:front|ir[\\/]passes[\\/]describe)\.page\.js$|[\\/]driver[\\/](?:(?:cpu|webgpu)[\\/]compile|cpu[\\/](?:facts|launch-work|variant|disassembly\.page))\.js$/;
/** Loads all parts before it does anything. */
const WHOLE = /[\\/]driver[\\/]simulator[\\/]/;
/** What may be divided. WGSL is rendered anew where arrays share buffers, which is known at the launch: what depends on that is in its layout. */
const DIVIDED = /[\\/]compiler[\\/](?!render[\\/]wgsl[\\/]layout\.js$)/;
/** Tables that are loaded at once, of functions that compiling runs alone. */
const OF_COMPILING = /[\\/]compiler[\\/](?:intrinsics[\\/](?:integers|operations)|ir[\\/]builder)\.js$/;

/** Modules that load a part. */
const PART = /[\\/]compiler[\\/](?:(?:cpu-|webgpu-)?(?:rest|usual|simple)|texts)\.js$/;
/** Files of what has moved. */
const MOVED = /(?:\.|[\\/]all-)(?:(?:cpu-|webgpu-)?(?:rest|usual)|texts)\.js$/;
/**
 * Divides what Vite has built into the folder `page`, a file a module; `entries` are the modules that programs import. What no usual kernel reaches goes first, then what only kernels reach that are not
 * simple, then what the simplest do not.
 */
export function divide(page, plugin, entries) {
  const files = entries.map((name) => join(page, `${name}.js`));
  takeOut(
    page,
    files,
    whatIsReached(page, plugin, 'all', () => {
      makePublic(files);
      letMissingPass(page, files);
    }),
    'rest',
  );
  takeOut(page, files, whatIsReached(page, plugin, 'simple'), 'usual');
  takeOut(page, files, whatIsReached(page, plugin, 'first'), 'simple');
}

/** The modules of a folder: all, those that may be divided, and those that are there before what `kind` names. */
function modulesOf(files) {
  const modules = new Map();
  const read = (file) => modules.get(file) ?? modules.set(file, new Module(file)).get(file);
  const next = ({ imports, loads }) => [...imports, ...loads].map(read);
  const stops = ({ file }) => BEGUN_AGAIN.test(file) || WHOLE.test(file) || PART.test(file);
  const all = reached(files, next, read);
  const others = reached(files, (module) => (stops(module) ? [] : next(module)), read);
  const reachedFrom = (which) => {
    const roots = [...all].filter(({ file }) => BEGUN_AGAIN.test(file) && which.test(file));
    // What these load by `import()` is a part already.
    return reached(
      roots.flatMap(({ imports, loads }) => [...imports, ...loads]),
      (module) => [...module.imports].map(read),
      read,
    );
  };
  const divided = [...reachedFrom(/./)].filter(
    (module) => OF_COMPILING.test(module.file) || (!others.has(module) && DIVIDED.test(module.file)),
  );
  const [forCpu, forWebGpu, forAll] = [/cpu/, /webgpu/, /compiler[\\/].*\.page\.js$/].map(reachedFrom);
  const deviceOf = (module) => {
    if (forAll.has(module) || forCpu.has(module) === forWebGpu.has(module)) return '';
    return forCpu.has(module) ? 'cpu-' : 'webgpu-';
  };
  return { all, divided, read, devices: new Map(divided.map((module) => [module.file, deviceOf(module)])) };
}

/** Private properties would keep all of a class together. */
function makePublic(files) {
  const { divided } = modulesOf(files);
  for (const [k, text] of withoutPrivates(divided).entries()) writeFileSync(divided[k].file, text);
}

/** Has what catches errors let those pass that say that a part is missing. */
function letMissingPass(page, files) {
  for (const module of modulesOf(files).divided) {
    const text = new MagicString(module.text);
    for (const { param, body } of catchesIn(module.body)) {
      const name = param?.name ?? 'error$';
      if (param === null) text.appendLeft(body.start, `(${name}) `);
      text.appendLeft(body.start + 1, ` if (${name} instanceof ${MISSING}) throw ${name};`);
    }
    if (!text.hasChanged()) continue;
    text.prepend(importing(path(module.file, join(page, 'on-demand.js')), [[MISSING, 'MissingPart']]));
    writeFileSync(module.file, text.toString());
  }
}

function catchesIn(node, found = []) {
  if (Array.isArray(node)) for (const each of node) catchesIn(each, found);
  if (typeof node?.type !== 'string') return found;
  if (node.type === 'CatchClause') found.push(node);
  for (const child of Object.values(node)) if (typeof child === 'object') catchesIn(child, found);
  return found;
}

/** Moves what was not reached into parts of this kind. */
function takeOut(page, files, reachedIn, kind) {
  const before = modulesOf(files).divided;
  const called = new Map(before.map((module) => [module.file, namesOfCalled(module, reachedIn(module.file).called)]));
  for (const module of before) {
    if (!module.isRead) writeFileSync(module.file, withRegions(module, reachedIn(module.file).unreached(module.text)));
  }
  const { all, divided, read, devices } = modulesOf(files);
  // What has moved before can wait for what moves now.
  const late = new Set([...all].filter(({ file }) => MOVED.test(file)));
  const { moving, named } = whatMoves(
    divided,
    [...all].filter((module) => !late.has(module)),
    called,
    read,
  );
  const partOf = whichPart(moving, kind, devices, read);
  new Division(page, moving, named, partOf, read).write(divided, late);
}

/** What most kernels reach of a file: where functions begin that are called, and the characters that are not reached. */
function whatIsReached(page, plugin, which, before = () => undefined) {
  before();
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 };
  const files = JSON.parse(execFileSync(process.execPath, [PROBE, join(page, 'index.js'), plugin, which], options));
  return (file) => {
    const { called, ranges } = files[file] ?? { called: [], ranges: [] };
    const unreached = (text) => {
      const found = new Uint8Array(text.length);
      for (const [start, end, isReached] of ranges) found.fill(isReached ? 0 : 1, start, end);
      return found;
    };
    return { called: new Set(called), unreached };
  };
}

function namesOfCalled(module, starts) {
  return new Set(
    [...module.items.values()]
      .filter(({ isFunction, node }) => isFunction && starts.has(node.start))
      .map(({ name }) => name),
  );
}

/**
 * The part of each item that moves. What explains errors, and what only that uses, is a part of its own, which loads the rest as well; and what only one device runs is a part, too.
 */
function whichPart(moving, kind, devices, read) {
  const users = new Map([...moving.keys()].map((item) => [item, []]));
  for (const user of moving.keys())
    for (const name of user.references.keys()) users.get(itemOf(user.module, name, read))?.push(user);
  const parts = new Map();
  for (const item of moving.keys()) {
    const device = devices.get(item.module.file);
    if (device !== '' || kind !== 'rest') parts.set(item, device + kind);
    else if (explains(item)) parts.set(item, 'texts');
  }
  // What only errors use, found from those who use it: as long as there is more.
  for (let before = -1; before !== parts.size; ) {
    before = parts.size;
    for (const [item, isUsed] of moving) {
      const by = users.get(item).filter((user) => user !== item);
      if (!parts.has(item) && !isUsed && by.length > 0 && by.every((user) => parts.get(user) === 'texts'))
        parts.set(item, 'texts');
    }
  }
  for (const item of moving.keys()) if (!parts.has(item)) parts.set(item, kind);
  // Only functions can be called of a part that may be missing.
  for (let more = true; more; ) {
    more = false;
    for (const [item, part] of parts) {
      if (part !== 'texts') continue;
      const isCalled = (user) => item.isFunction && user.references.get(nameIn(user.module, item, read)) === true;
      if (users.get(item).some((user) => parts.get(user) !== 'texts' && !isCalled(user))) {
        parts.set(item, kind);
        more = true;
      }
    }
  }
  return parts;
}

/** What an item is called in a module. */
function nameIn(module, item, read) {
  if (module === item.module) return item.name;
  for (const [local, { from, name }] of module.imported) if (exportOf(read(from), name) === item) return local;
  return undefined;
}

/** Whether a function does nothing but explain an error. */
function explains({ isFunction, node, text }) {
  const last = isFunction ? node.body.body.at(-1) : undefined;
  const isThrown = last?.type === 'ThrowStatement';
  const value = last?.type === 'ReturnStatement' ? last.argument : last?.expression;
  const isCalled = value?.type === 'CallExpression' && /^(?:fail|refuse)/.test(value.callee.name);
  return (isThrown || isCalled) && text.split(/\breturn\b/).length - 1 === (last.type === 'ReturnStatement' ? 1 : 0);
}

/** The modules that these files lead to. */
function reached(files, next, read) {
  const found = new Set();
  const visit = (module) => {
    if (found.has(module)) return;
    found.add(module);
    next(module).forEach(visit);
  };
  files.map(read).forEach(visit);
  return found;
}

const lengthOf = ({ text }) => text.replaceAll(/\s+/g, ' ').length;

/** Whether an item reads a table, which may move with it. */
const readsTable = (item, read) =>
  [...item.references.keys()].some((name) => {
    const other = itemOf(item.module, name, read);
    return other?.node.type === 'VariableDeclaration' && lengthOf(other) > 4 * SHORT;
  });

/**
 * The items that move, each with whether something stays that uses it. Also those that something must stand for in their place: others are only called, where their part can be asked for them.
 */
function whatMoves(divided, all, called, read) {
  const candidates = new Set(
    divided.flatMap((module) => {
      const written = new Set(module.all.flatMap((item) => [...item.assigned]));
      const names = called.get(module.file) ?? new Set();
      // Variables are assigned to by their own module alone.
      const variables = module.otherNames.filter((name) => written.has(name));
      return [...module.items.values()].filter(
        ({ name, isFunction, assigned }) =>
          !(isFunction && names.has(name)) && !variables.some((name) => assigned.has(name)),
      );
    }),
  );
  const used = new Set();
  const users = new Map([...candidates].map((item) => [item, []]));
  for (const module of all) {
    for (const user of module.all)
      for (const name of user.references.keys()) users.get(itemOf(module, name, read))?.push(user);
    // What is passed on, and what is exported by a module that is loaded as a whole, is used by nobody knows whom.
    for (const { from, name } of module.passedOn) {
      const names = name === '*' ? [...read(from).exported.keys()] : [name];
      for (const each of names) used.add(exportOf(read(from), each));
    }
    for (const { from, name } of module.imported.values())
      if (name === '*') for (const each of read(from).items.values()) used.add(each);
    for (const file of module.loads)
      for (const name of read(file).exported.keys()) used.add(exportOf(read(file), name));
  }
  const stays = (item) => used.has(item) || users.get(item).some((user) => user !== item && !candidates.has(user));
  for (let before = -1; before !== candidates.size; ) {
    before = candidates.size;
    for (const item of candidates) {
      if (REGION.test(item.name)) continue;
      const isShort = lengthOf(item) < SHORT && !readsTable(item, read);
      if ((!item.isFunction || isShort) && stays(item)) candidates.delete(item);
    }
  }
  const named = new Set(used);
  for (const module of all) {
    const isDivided = divided.includes(module);
    for (const user of module.all.filter((item) => !candidates.has(item))) {
      for (const [name, onlyCalled] of user.references)
        if (!onlyCalled || !isDivided || module.hidden.has(name)) named.add(itemOf(module, name, read));
    }
  }
  return { moving: new Map([...candidates].map((item) => [item, stays(item)])), named };
}
