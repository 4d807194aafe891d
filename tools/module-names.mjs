/**
 * What is declared at the top of an ES module, what of it is used where, and what comes from other modules: as much as tools need that move declarations.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'acorn';
import { Analysis } from './page-analysis.mjs';

/** Functions of these modules are read as kernels are: none can stand for them. So are those of other modules that are given to `inline`. */
const READ = /[\\/]frontend[\\/]device-functions\.js$/;

/** Identifiers in a piece of code that may name something outside, and whether each is only called. Those that stand in the place of a key are left out. */
export function references(node) {
  const found = new Map();
  const visit = (at, isCallee = false) => {
    if (Array.isArray(at)) for (const each of at) visit(each);
    if (typeof at?.type !== 'string') return;
    if (at.type === 'Identifier') found.set(at.name, (found.get(at.name) ?? true) && isCallee);
    for (const [key, child] of Object.entries(at)) {
      const isName = key === 'label' || ((key === 'property' || key === 'key') && !at.computed);
      if (!isName && typeof child === 'object') visit(child, key === 'callee' && at.type === 'CallExpression');
    }
  };
  visit(node);
  return found;
}

/** Names that a piece of code assigns to. */
function assigned(node, found = new Set()) {
  if (Array.isArray(node)) for (const each of node) assigned(each, found);
  if (typeof node?.type !== 'string') return found;
  if (node.type === 'AssignmentExpression') for (const name of references(node.left).keys()) found.add(name);
  if (node.type === 'UpdateExpression') for (const name of references(node.argument).keys()) found.add(name);
  for (const child of Object.values(node)) if (typeof child === 'object') assigned(child, found);
  return found;
}

const contentOf = ({ type, superClass, body, declarations }) =>
  type === 'ClassDeclaration' ? [superClass, body] : declarations[0].init;

/** A function, a class or a constant at the top of a module; or other statements there, which have no name. */
export class Item {
  constructor(module, node, name = '') {
    this.module = module;
    this.node = node;
    this.name = name;
    const isFunction = node.type === 'FunctionDeclaration';
    /** Whether it is a function that another may stand for. */
    this.isFunction = isFunction;
    this.references = references(isFunction ? [node.params, node.body] : name === '' ? node : contentOf(node));
    this.assigned = assigned(node);
  }

  get text() {
    return this.module.text.slice(this.node.start, this.node.end);
  }
}

/** A module, read from its file. */
export class Module {
  /** Functions, classes and constants by name. */
  items = new Map();
  /** All of these and other statements, in their order. */
  all = [];
  /** Where a name comes from that is imported: a file, and its name there. */
  imported = new Map();
  /** The name within the module of what is exported. */
  exported = new Map();
  /** What is exported of others: a file, and its name there. */
  passedOn = [];
  /** Files that are imported, and files that are loaded by `import()`. */
  imports = new Set();
  /** The statements that import names. */
  importing = [];
  loads;
  #hidden;

  constructor(file) {
    this.file = file;
    this.text = readFileSync(file, 'utf8');
    this.loads = Array.from(this.text.matchAll(/\bimport\("(\.[^"]+)"\)/g), ([, path]) => this.#resolve(path));
    this.body = parse(this.text, { ecmaVersion: 'latest', sourceType: 'module' }).body;
    for (const node of this.body) this.#read(node);
    this.isRead = READ.test(file);
    this.#findRead();
    for (const local of this.exported.values())
      if (this.imported.has(local)) this.passedOn.push(this.imported.get(local));
  }

  #resolve(path) {
    return join(dirname(this.file), path);
  }

  #read(node) {
    const from = node.source ? this.#resolve(node.source.value) : undefined;
    if (from !== undefined) this.imports.add(from);
    if (node.type === 'ImportDeclaration') {
      this.importing.push(node);
      for (const { local, imported } of node.specifiers)
        this.imported.set(local.name, { from, name: imported?.name ?? '*' });
    } else if (node.type === 'ExportNamedDeclaration' && node.declaration === null) {
      for (const { local, exported } of node.specifiers) {
        if (from === undefined) this.exported.set(exported.name, local.name);
        else this.passedOn.push({ from, name: local.name });
      }
    } else if (node.type === 'ExportAllDeclaration') this.passedOn.push({ from, name: '*' });
    else this.#declare(node);
  }

  #findRead() {
    const inlines = [...this.imported.values()].some(({ from, name }) => name === 'inline' && READ.test(from));
    const given = this.all.flatMap(({ references }) => [...references]).filter(([, onlyCalled]) => !onlyCalled);
    const names = new Set(given.map(([name]) => name));
    for (const [name, item] of this.items) if (this.isRead || (inlines && names.has(name))) item.isFunction = false;
  }

  #declare(node) {
    const [only, ...more] = node.type === 'VariableDeclaration' && node.kind === 'const' ? node.declarations : [];
    const isOne = node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration';
    const name = isOne ? node.id.name : more.length === 0 ? only?.id.name : undefined;
    const item = new Item(this, node, name);
    this.all.push(item);
    if (name !== undefined) this.items.set(name, item);
  }

  /** Names that are declared below the top, where they may mean something else. */
  get hidden() {
    this.#hidden ??= new Analysis(this.body).names;
    return this.#hidden;
  }

  /** Names of variables, which are no items with a name. */
  get otherNames() {
    return this.all
      .filter(({ name }) => name === '')
      .flatMap(({ node }) => (node.declarations ?? []).flatMap(({ id }) => [...references(id).keys()]));
  }
}
