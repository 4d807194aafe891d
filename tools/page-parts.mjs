/**
 * Divides the compiler of the half for pages into what the simplest kernels need, what simple ones do, what most others do, texts of errors and the rest, which are loaded when a kernel needs them.
 *
 * What `page-kernels.mjs` has not seen reached moves from `x.js` into modules beside it, `x.rest.js` and others, with the tables that only that reads: functions, and regions of others
 * (`page-regions.mjs`). Where others call one, a function of its name stays that takes it out of a part (`on-demand.ts`): compiling that lacks the part is begun again when it has been loaded. This is
 * sound only for what nothing else runs, so modules are left alone that not only `front.page.ts` and the compilers of devices lead to.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import MagicString from 'magic-string';
import { Module } from './module-names.mjs';
import { withoutPrivates } from './page-privates.mjs';
import { MISSING, REGION, withRegions } from './page-regions.mjs';

const PROBE = fileURLToPath(new URL('./page-kernels.mjs', import.meta.url));
/** Functions of so many characters are no longer than what would stand in their place. */
const SHORT = 120;

/** Modules that are run by those alone who begin again when a part has been loaded: what they import may be divided. */
const BEGUN_AGAIN =
  /[\\/]compiler[\\/](?:front|ir[\\/]passes[\\/]describe)\.page\.js$|[\\/]driver[\\/](?:(?:cpu|webgpu)[\\/]compile|cpu[\\/](?:facts|variant))\.js$/;
/** Loads all parts before it does anything. */
const WHOLE = /[\\/]driver[\\/]simulator[\\/]/;
/** What may be divided. WGSL is rendered anew where arrays share buffers, which is known at the launch: what depends on that is in its layout. */
const DIVIDED = /[\\/]compiler[\\/](?!render[\\/]wgsl[\\/]layout\.js$)/;
/** Tables that are loaded at once, of functions that compiling runs alone. */
const OF_COMPILING = /[\\/]compiler[\\/](?:intrinsics[\\/](?:integers|operations)|ir[\\/]builder)\.js$/;

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
  const [forCpu, forWebGpu, forAll] = [/cpu/, /webgpu/, /\.page\.js$/].map(reachedFrom);
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
  const moving = whatMoves(
    divided,
    [...all].filter((module) => !late.has(module)),
    called,
    read,
  );
  const partOf = whichPart(moving, kind, devices, read);
  new Division(page, moving, partOf, read).write(divided, late);
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

/** The item that a name means in a module; undefined for globals, and for what is no item. */
function itemOf(module, name, read) {
  const imported = module.imported.get(name);
  return imported === undefined ? module.items.get(name) : exportOf(read(imported.from), imported.name);
}

const exportOf = (module, name) => module.items.get(module.exported.get(name));

/** The items that move, each with whether something stays that uses it, so that something must stand in its place. */
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
      const isShort = item.text.replaceAll(/\s+/g, ' ').length < SHORT;
      if ((!item.isFunction || isShort) && stays(item)) candidates.delete(item);
    }
  }
  return new Map([...candidates].map((item) => [item, stays(item)]));
}

class Division {
  #page;
  #moving;
  #partOf;
  #read;
  /** What each function is called in its part. */
  #names = new Map();

  constructor(page, moving, partOf, read) {
    this.#page = page;
    this.#moving = moving;
    this.#partOf = partOf;
    this.#read = read;
  }

  /** Divides modules; `late` are those that take what moves from where it goes. */
  write(modules, late) {
    for (const user of this.#moving.keys()) {
      for (const [name, onlyCalled] of user.references) {
        const item = itemOf(user.module, name, this.#read);
        if (!this.#moving.has(item) || !item.isFunction) continue;
        // What is compared or kept is the same for all: what stands in its place.
        if (!onlyCalled) this.#moving.set(item, true);
        else if (this.#isApart(user, item)) this.#names.set(item, '');
      }
    }
    for (const module of late) {
      for (const name of module.imported.keys()) {
        const item = itemOf(module, name, this.#read);
        if (this.#moving.has(item) && item.isFunction && !callsOnly(module, name)) this.#moving.set(item, true);
      }
    }
    for (const [item, isUsed] of this.#moving) if (isUsed) this.#names.set(item, '');
    let k = 0;
    for (const item of this.#names.keys()) this.#names.set(item, `_${(k++).toString(36)}`);
    const exported = new Map([...new Set(this.#partOf.values())].map((part) => [part, []]));
    for (const module of modules) this.#divide(module, exported);
    for (const module of late) this.#redirect(module);
    for (const [name, lines] of exported) {
      writeFileSync(join(this.#page, `compiler/all-${name}.js`), lines.join(''));
      const others = /^(?:cpu|webgpu)-/.test(name) ? [name.replace(/^.*-/, '')] : [];
      this.#load(
        name,
        others.filter((other) => exported.has(other)),
      );
    }
    // What moved before takes from what moves now, and has constants that are computed when it is loaded.
    for (const { file } of late) {
      const [, name] = /[\\/]all-([\w-]+)\.js$/.exec(file) ?? [];
      if (name === undefined) continue;
      const [device] = /^(?:cpu-|webgpu-|)/.exec(name);
      this.#load(
        name,
        [...new Set(['', device])].flatMap((of) => {
          const earlier = ['simple', 'usual'].map((kind) => of + kind).filter((other) => other !== name);
          return earlier.filter((other) => existsSync(join(this.#page, `compiler/all-${other}.js`)));
        }),
      );
    }
  }

  /** Writes the module that loads a part behind others. */
  #load(name, others) {
    writeFileSync(this.#part(name), loading(name, others));
  }

  #part(name) {
    return join(this.#page, `compiler/${name}.js`);
  }

  /** Whether an item that moves may be missing where another one runs. */
  #isApart(user, item) {
    return this.#partOf.get(item) === 'texts' && this.#partOf.get(user) !== 'texts';
  }

  /** Divides a module; adds what the parts are to export of it. */
  #divide(module, exported) {
    const all = [...module.items.values()].filter((item) => this.#moving.has(item));
    if (all.length === 0) return;
    const own = new Set();
    for (const part of exported.keys()) {
      const moved = all.filter((item) => this.#partOf.get(item) === part);
      if (moved.length > 0) exported.get(part).push(this.#move(module, part, moved, own));
    }
    this.#leave(module, all, own);
  }

  /** Has a module take what has moved from where it is now. */
  #redirect(module) {
    const text = new MagicString(module.text);
    for (const { start, end, specifiers, source } of module.importing) {
      const wanted = new Map();
      for (const { local, imported } of specifiers) {
        const { from } = module.imported.get(local.name);
        const item = imported && itemOf(module, local.name, this.#read);
        const hasMoved = this.#moving.has(item) && !(item.isFunction && !callsOnly(module, local.name));
        const file = hasMoved ? fileOf(item.module, this.#partOf.get(item)) : from;
        const name = file === from ? (imported?.name ?? '*') : item.name;
        wanted.set(file, (wanted.get(file) ?? new Map()).set(local.name, name));
      }
      if ([...wanted.keys()].every((file) => file === join(dirname(module.file), source.value))) continue;
      const lines = [...wanted].map(([from, names]) => importing(path(module.file, from), names));
      text.overwrite(start, end, lines.join(' '));
    }
    writeFileSync(module.file, text.toString());
  }

  /** Writes the file of what moves into a part. Gives what the part is to export of it; adds to `own` what that uses of the module. */
  #move(module, part, moved, own) {
    const file = fileOf(module, part);
    const wanted = new Map();
    const want = (from, name, local) => wanted.set(from, (wanted.get(from) ?? new Map()).set(local, name));
    const kept = new Set(module.otherNames);
    const references = new Map();
    const pieces = [];
    const hidden = new Set();
    for (const [name, onlyCalled] of moved.flatMap((item) => [...item.references]))
      references.set(name, (references.get(name) ?? true) && onlyCalled);
    for (const [name, onlyCalled] of references) {
      const item = itemOf(module, name, this.#read);
      const imported = module.imported.get(name);
      if (this.#moving.has(item) && (onlyCalled || !item.isFunction)) {
        const from = fileOf(item.module, this.#partOf.get(item));
        if (this.#isApart(moved[0], item)) {
          want(this.#part('texts'), '$texts', '$texts');
          pieces.push(`function ${name}(...args) { return $texts().${this.#names.get(item)}(...args); }`);
        } else if (from !== file) want(from, item.name, name);
      } else if (imported !== undefined) want(imported.from, imported.name, name);
      else if (item !== undefined || kept.has(name)) {
        want(module.file, name, name);
        own.add(name);
        hidden.add(name);
      }
    }
    const hides = (item) => hidden.has(item.name);
    pieces.push(...moved.map((item) => (hides(item) ? item.text.replace(item.name, `${item.name}$rest`) : item.text)));
    const exports = moved.map((item) => (hides(item) ? as(`${item.name}$rest`, item.name) : item.name));
    writeFileSync(
      file,
      [
        ...[...wanted].map(([from, names]) => importing(path(file, from), names)),
        ...pieces,
        `export { ${exports.join(', ')} };\n`,
      ].join('\n'),
    );
    const names = moved.filter((item) => this.#names.has(item)).map((item) => as(item.name, this.#names.get(item)));
    if (names.length === 0) return '';
    return `export { ${names.join(', ')} } from "${path(this.#part(part), file)}";\n`;
  }

  /** Writes what is left of a module. Its lines stay where they are, so that its source map holds. */
  #leave(module, moved, needed) {
    const text = new MagicString(module.text);
    const lines = (code) => code.replaceAll(/[^\n]/g, '');
    const gone = new Set();
    const parts = new Set();
    const regions = new Map();
    for (const item of moved) {
      const name = this.#moving.get(item) ? this.#names.get(item) : undefined;
      const isRegion = REGION.test(item.name);
      const part = partName(this.#partOf.get(item));
      if (name !== undefined) parts.add(this.#partOf.get(item));
      if (name === undefined || isRegion) gone.add(item.name);
      if (isRegion && name !== undefined) regions.set(item.name, `${part}().${name}(`);
      const instead =
        name === undefined || isRegion ? '' : `function ${item.name}(...args) { return ${part}().${name}(...args); }`;
      text.overwrite(item.node.start, item.node.end, instead + lines(item.text));
    }
    const isMoved = (at) => moved.some(({ node }) => node.start <= at && at < node.end);
    for (const { 0: call, 1: name, index } of module.text.matchAll(/\b(region\$\d+)\(/g))
      if (!isMoved(index)) text.overwrite(index, index + call.length, regions.get(name));
    const read = new Set(
      module.all.filter((item) => !this.#moving.has(item)).flatMap((item) => [...item.references.keys()]),
    );
    for (const local of module.exported.values()) read.add(local);
    for (const { start, end, specifiers, source } of module.importing) {
      const names = specifiers
        .map(({ local, imported }) => [local.name, imported?.name ?? '*'])
        .filter(([local]) => read.has(local));
      if (names.length === specifiers.length) continue;
      text.overwrite(
        start,
        end,
        (names.length === 0 ? '' : importing(source.value, names)) + lines(module.text.slice(start, end)),
      );
    }
    const exported = new Map([...module.exported].filter(([, name]) => !gone.has(name)));
    for (const name of needed) exported.set(name, name);
    const list = [...exported].map(([name, local]) => as(local, name)).join(', ');
    const imports = [...parts].map((part) =>
      importing(path(module.file, this.#part(part)), [[partName(part), partName(part)]]),
    );
    const code = text
      .toString()
      .replace(/^export \{[^}]*\};$/m, (whole) => lines(whole))
      .replace(
        /(?=\/\/# sourceMappingURL=|$(?![\s\S]))/,
        () => `export { ${list} };\n${imports.map((line) => `${line}\n`).join('')}`,
      );
    writeFileSync(module.file, code);
  }
}

/** Modules that load a part. */
const PART = /[\\/]compiler[\\/](?:(?:cpu-|webgpu-)?(?:rest|usual|simple)|texts)\.js$/;
/** Files of what has moved. */
const MOVED = /(?:\.|[\\/]all-)(?:(?:cpu-|webgpu-)?(?:rest|usual)|texts)\.js$/;
/** The module that loads a part, when others have been loaded that it needs. */
function loading(name, others) {
  const imports = others.map((other) => `import { ${partName(other)}Part } from "./${other}.js";\n`);
  const before = others.map((other) => `${partName(other)}Part.load()`).join(', ');
  const all = `import("./all-${name}.js")`;
  const load = others.length === 0 ? `() => ${all}` : `async () => { await Promise.all([${before}]); return ${all}; }`;
  const local = partName(name);
  return `import { onDemand } from "../on-demand.js";\n${imports.join('')}const ${local}Part = onDemand(${load}${/usual$|simple$/.test(name) ? ', true' : ''});\nconst ${local} = () => ${local}Part.now();\nexport { ${local}, ${local}Part };\n`;
}

/** Whether all that a module does with a name is to call it. */
const callsOnly = (module, name) => module.all.every(({ references }) => references.get(name) ?? true);

/** What a module calls a part: no name within a function hides it. */
const partName = (part) => `$${part.replace(/-(\w)/, (_, letter) => letter.toUpperCase())}`;
const fileOf = (module, part) => module.file.replace(/\.js$/, `.${part}.js`);
const as = (name, other) => (name === other ? name : `${name} as ${other}`);

function path(from, to) {
  const way = relative(dirname(from), to).replaceAll('\\', '/');
  return way.startsWith('.') ? way : `./${way}`;
}

function importing(from, names) {
  const [first] = names;
  if (first[1] === '*') return `import * as ${first[0]} from "${from}";`;
  return `import { ${[...names].map(([local, name]) => as(name, local)).join(', ')} } from "${from}";`;
}
