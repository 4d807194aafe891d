/**
 * Divides the compiler of the half for pages into what most kernels need and the rest, which is loaded when a kernel needs it.
 *
 * Functions that `page-kernels.mjs` has not seen called move from `x.js` into a module beside it, `x.rest.js`, with the tables that only they read. Where others call one, a function of its name
 * stays that takes it out of a part (`on-demand.ts`): compiling that lacks the part is begun again when it has been loaded. This is sound only for what nothing else runs, so modules are left
 * alone that not only `front.page.ts` leads to.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import MagicString from 'magic-string';
import { Module } from './module-names.mjs';

const PROBE = fileURLToPath(new URL('./page-kernels.mjs', import.meta.url));
/** Functions of so many characters are no longer than what would stand in their place. */
const SHORT = 120;

/** Modules that are run by those alone who begin again when a part has been loaded: what they import may be divided. */
const BEGUN_AGAIN = /[\\/]compiler[\\/]front\.page\.js$|[\\/]driver[\\/](?:cpu|webgpu)[\\/]compile\.js$/;
/** Loads all parts before it does anything. */
const WHOLE = /[\\/]driver[\\/]simulator[\\/]/;
/** What may be divided. WGSL is rendered anew where arrays share buffers, which is known at the launch. */
const DIVIDED = /[\\/]compiler[\\/](?!render[\\/]wgsl[\\/])/;

/** Divides what Vite has built into the folder `page`, a file a module; `entries` are the modules that programs import. */
export function divide(page, plugin, entries) {
  const modules = new Map();
  const read = (file) => modules.get(file) ?? modules.set(file, new Module(file)).get(file);
  const next = ({ imports, loads }) => [...imports, ...loads].map(read);
  const stops = ({ file }) => BEGUN_AGAIN.test(file) || WHOLE.test(file);
  const files = entries.map((name) => join(page, `${name}.js`));
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
  const divided = [...reachedFrom(/./)].filter((module) => !others.has(module) && DIVIDED.test(module.file));
  const everywhere = reachedFrom(/compiler|webgpu/);
  const moving = whatMoves(divided, all, calledFirst(page, plugin), read);
  // Two parts, so that pages which compute on WebGPU load nothing of the CPU device.
  new Division(page, moving, read).write([
    { name: 'rest', modules: divided.filter((module) => everywhere.has(module)) },
    { name: 'cpu-rest', modules: divided.filter((module) => !everywhere.has(module)) },
  ]);
}

/** Where the functions begin that most kernels call, by file. */
function calledFirst(page, plugin) {
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 };
  const text = execFileSync(process.execPath, [PROBE, join(page, 'index.js'), plugin], options);
  return new Map(Object.entries(JSON.parse(text)).map(([file, starts]) => [file, new Set(starts)]));
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
      const starts = called.get(module.file) ?? new Set();
      // Variables are assigned to by their own module alone.
      const variables = module.otherNames.filter((name) => written.has(name));
      return [...module.items.values()].filter(
        ({ node, isFunction, assigned }) =>
          !(isFunction && starts.has(node.start)) && !variables.some((name) => assigned.has(name)),
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
      const isShort = item.text.replaceAll(/\s+/g, ' ').length < SHORT;
      if ((!item.isFunction || isShort) && stays(item)) candidates.delete(item);
    }
  }
  return new Map([...candidates].map((item) => [item, stays(item)]));
}

class Division {
  #page;
  #moving;
  #read;
  /** What each function is called in the part. */
  #names = new Map();

  constructor(page, moving, read) {
    this.#page = page;
    this.#moving = moving;
    this.#read = read;
  }

  write(parts) {
    const divided = parts.flatMap(({ modules }) => modules);
    for (const [name, onlyCalled, module] of divided.flatMap((module) => this.#used(module))) {
      const item = itemOf(module, name, this.#read);
      // What is compared or kept is the same for all: what stands in its place.
      if (this.#moving.has(item) && item.isFunction && !onlyCalled) this.#moving.set(item, true);
    }
    const used = new Set();
    for (const [item, isUsed] of this.#moving) {
      if (!isUsed) continue;
      let name = item.name;
      for (let k = 2; used.has(name); k++) name = `${item.name}$${k}`;
      used.add(name);
      this.#names.set(item, name);
    }
    for (const { name, modules } of parts) {
      const part = join(this.#page, `compiler/${name}.js`);
      const all = join(this.#page, `compiler/all-${name}.js`);
      writeFileSync(all, modules.map((module) => this.#divide(module, all, part)).join(''));
      writeFileSync(
        part,
        `import { onDemand } from "../on-demand.js";\nconst part = onDemand(() => import("./all-${name}.js"));\nconst rest = () => part.now();\nexport { rest };\n`,
      );
    }
  }

  /** What the moved items of a module name, and whether they only call it. */
  #used(module) {
    return this.#moved(module).flatMap((item) =>
      [...item.references].map(([name, onlyCalled]) => [name, onlyCalled, module]),
    );
  }

  #moved(module) {
    return [...module.items.values()].filter((item) => this.#moving.has(item));
  }

  /** Divides a module; what `all` is to export of it. */
  #divide(module, all, part) {
    const moved = this.#moved(module);
    if (moved.length === 0) return '';
    const wanted = new Map();
    const own = new Set();
    const want = (file, name, local) => wanted.set(file, (wanted.get(file) ?? new Map()).set(local, name));
    const kept = new Set(module.otherNames);
    const references = new Map();
    for (const [name, onlyCalled] of moved.flatMap((item) => [...item.references]))
      references.set(name, (references.get(name) ?? true) && onlyCalled);
    for (const [name, onlyCalled] of references) {
      const item = itemOf(module, name, this.#read);
      const imported = module.imported.get(name);
      if (this.#moving.has(item) && (onlyCalled || !item.isFunction)) {
        if (imported !== undefined) want(restOf(item.module), item.name, name);
      } else if (imported !== undefined) want(imported.from, imported.name, name);
      else if (item !== undefined || kept.has(name)) {
        want(module.file, name, name);
        own.add(name);
      }
    }
    const file = restOf(module);
    const hides = (item) => own.has(item.name);
    const pieces = moved.map((item) => (hides(item) ? item.text.replace(item.name, `${item.name}$rest`) : item.text));
    const exports = moved.map((item) => (hides(item) ? as(`${item.name}$rest`, item.name) : item.name));
    writeFileSync(
      file,
      [
        ...[...wanted].map(([from, names]) => importing(path(file, from), names)),
        ...pieces,
        `export { ${exports.join(', ')} };\n`,
      ].join('\n'),
    );
    this.#leave(module, moved, own, part);
    const names = moved.filter((item) => this.#names.has(item)).map((item) => as(item.name, this.#names.get(item)));
    return names.length === 0 ? '' : `export { ${names.join(', ')} } from "${path(all, file)}";\n`;
  }

  /** Writes what is left of a module. Its lines stay where they are, so that its source map holds. */
  #leave(module, moved, needed, part) {
    const text = new MagicString(module.text);
    const lines = (code) => code.replaceAll(/[^\n]/g, '');
    const gone = new Set();
    for (const item of moved) {
      const name = this.#names.get(item);
      if (name === undefined) gone.add(item.name);
      const instead = name === undefined ? '' : `function ${item.name}(...args) { return rest().${name}(...args); }`;
      text.overwrite(item.node.start, item.node.end, instead + lines(item.text));
    }
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
    const code = text
      .toString()
      .replace(/^export \{[^}]*\};$/m, (whole) => lines(whole))
      .replace(
        /(?=\/\/# sourceMappingURL=|$(?![\s\S]))/,
        `export { ${list} };\nimport { rest } from "${path(module.file, part)}";\n`,
      );
    writeFileSync(module.file, code);
  }
}

const restOf = (module) => module.file.replace(/\.js$/, '.rest.js');
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
