/**
 * Writes what `page-parts.mjs` has found to move: modules beside those that it comes from, the parts that have these, and what stands in its place.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import MagicString from 'magic-string';

/** The item that a name means in a module; undefined for globals, and for what is no item. */
export function itemOf(module, name, read) {
  const imported = module.imported.get(name);
  return imported === undefined ? module.items.get(name) : exportOf(read(imported.from), imported.name);
}

export const exportOf = (module, name) => module.items.get(module.exported.get(name));

export class Division {
  #page;
  #moving;
  #named;
  #partOf;
  #read;
  /** What each function is called in its part. */
  #names = new Map();

  constructor(page, moving, named, partOf, read) {
    this.#page = page;
    this.#moving = moving;
    this.#named = named;
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
        if (!onlyCalled) this.#standFor(item);
        else if (this.#isApart(user, item)) this.#names.set(item, '');
      }
    }
    for (const module of late) {
      for (const name of module.imported.keys()) {
        const item = itemOf(module, name, this.#read);
        if (this.#moving.has(item) && item.isFunction && !callsOnly(module, name)) this.#standFor(item);
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

  /** Has a function stay that takes this one out of its part. */
  #standFor(item) {
    this.#moving.set(item, true);
    this.#named.add(item);
  }

  /** Whether a name means a function whose part is asked for it wherever it is called. */
  #isAsked(item) {
    return this.#moving.get(item) === true && item.isFunction && !this.#named.has(item);
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
    const asks = [...module.imported.keys()].some((name) => this.#isAsked(itemOf(module, name, this.#read)));
    if (all.length === 0 && !asks) return;
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

  /** What stands for a function that is in a part. */
  #within(item) {
    return `${partName(this.#partOf.get(item))}().${this.#names.get(item)}`;
  }

  /** Writes what is left of a module. Its lines stay where they are, so that its source map holds. */
  #leave(module, moved, needed) {
    const text = new MagicString(module.text);
    const lines = (code) => code.replaceAll(/[^\n]/g, '');
    const gone = new Set();
    const parts = new Set();
    for (const item of moved) {
      const stands = this.#moving.get(item) && this.#named.has(item);
      if (!stands) gone.add(item.name);
      else parts.add(this.#partOf.get(item));
      const instead = stands ? `function ${item.name}(...args) { return ${this.#within(item)}(...args); }` : '';
      text.overwrite(item.node.start, item.node.end, instead + lines(item.text));
    }
    const staying = module.all.filter((item) => !this.#moving.has(item));
    for (const { start, end, name } of staying.flatMap(({ node }) => calledIn(node))) {
      const item = itemOf(module, name, this.#read);
      if (!this.#isAsked(item)) continue;
      text.overwrite(start, end, this.#within(item));
      parts.add(this.#partOf.get(item));
    }
    const read = new Set(
      staying
        .flatMap((item) => [...item.references.keys()])
        .filter((name) => !this.#isAsked(itemOf(module, name, this.#read))),
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

/** The module that loads a part, when others have been loaded that it needs. */
function loading(name, others) {
  const imports = others.map((other) => `import { ${partName(other)}Part } from "./${other}.js";\n`);
  const before = others.map((other) => `${partName(other)}Part.load()`).join(', ');
  const all = `import("./all-${name}.js")`;
  const load = others.length === 0 ? `() => ${all}` : `async () => { await Promise.all([${before}]); return ${all}; }`;
  const local = partName(name);
  return `import { onDemand } from "../on-demand.js";\n${imports.join('')}const ${local}Part = onDemand(${load}${/usual$|simple$/.test(name) ? ', true' : ''});\nconst ${local} = () => ${local}Part.now();\nexport { ${local}, ${local}Part };\n`;
}

/** What is called by its name within a node. */
function calledIn(node, found = []) {
  if (Array.isArray(node)) for (const each of node) calledIn(each, found);
  if (typeof node?.type !== 'string') return found;
  if (node.type === 'CallExpression' && node.callee.type === 'Identifier') found.push(node.callee);
  for (const child of Object.values(node)) if (typeof child === 'object') calledIn(child, found);
  return found;
}

/** Whether all that a module does with a name is to call it. */
const callsOnly = (module, name) => module.all.every(({ references }) => references.get(name) ?? true);

/** What a module calls a part: no name within a function hides it. */
const partName = (part) => `$${part.replace(/-(\w)/, (_, letter) => letter.toUpperCase())}`;
const fileOf = (module, part) => module.file.replace(/\.js$/, `.${part}.js`);
const as = (name, other) => (name === other ? name : `${name} as ${other}`);

export function path(from, to) {
  const way = relative(dirname(from), to).replaceAll('\\', '/');
  return way.startsWith('.') ? way : `./${way}`;
}

export function importing(from, names) {
  const [first] = names;
  if (first[1] === '*') return `import * as ${first[0]} from "${from}";`;
  return `import { ${[...names].map(([local, name]) => as(name, local)).join(', ')} } from "${from}";`;
}
