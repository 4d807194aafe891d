/**
 * Joins what pages load on demand to a few files: what every kernel is compiled by, what each device adds to that, and the parts of the rest. Bundlers make a file of their own of each set of modules that
 * several of them share, and as many requests; what is compressed apart is larger, and a name that goes from file to file is written in both.
 *
 * What is loaded at once stays a file a module, of which bundlers leave out what is not used.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import MagicString from 'magic-string';
import { Module } from './module-names.mjs';

const FRONT = 'compiler/front.page.js';
const CPU = 'driver/cpu/running.page.js';
const WEBGPU = 'driver/webgpu/index.js';
/** The parts, those first that others take from. */
const PARTS = ['simple', 'usual', 'rest'].flatMap((kind) => [kind, `cpu-${kind}`, `webgpu-${kind}`]).concat('texts');

/** Joins the files of the folder `page`, which `page-parts.mjs` has divided; `entries` are the modules that programs import. */
export async function joinFiles(page, entries) {
  const modules = new Map();
  const read = (file) => modules.get(file) ?? modules.set(file, new Module(file)).get(file);
  const statically = (files, found = new Set()) => {
    for (const file of files) {
      if (found.has(file)) continue;
      found.add(file);
      statically(read(file).imports, found);
    }
    return found;
  };
  const at = (name) => join(page, name);
  const first = statically(entries.map((name) => at(`${name}.js`)));
  // Small modules that are loaded by themselves lead to what is joined.
  const entrances = [FRONT, CPU].flatMap((name) => read(at(name)).loads).concat(at(WEBGPU));
  const reachedFrom = (files) => [...statically(files)].filter((file) => !first.has(file) && !entrances.includes(file));
  const loadedBy = (name) => reachedFrom(read(at(name)).loads);
  const [cpu, webgpu] = [loadedBy(CPU), reachedFrom([at(WEBGPU)])];
  // What a part takes from is not to load another device's.
  const taken = PARTS.flatMap((name) =>
    loadedBy(`compiler/${name}.js`).filter(
      (file) =>
        (!name.startsWith('cpu-') && cpu.includes(file)) || (!name.startsWith('webgpu-') && webgpu.includes(file)),
    ),
  );
  const parts = PARTS.flatMap((name) => loadedBy(`compiler/${name}.js`));
  const compiling = statically([...entrances, ...parts]);
  const groups = Object.entries({
    // Loaded at once, and needed by what is not: bundlers would make a file of each set of these that several others share.
    shared: [...first].filter((file) => compiling.has(file)),
    base: [...loadedBy(FRONT), ...cpu.filter((file) => webgpu.includes(file)), ...taken],
    cpu,
    webgpu,
    ...Object.fromEntries(PARTS.map((name) => [`all-${name}`, loadedBy(`compiler/${name}.js`)])),
  }).map(([name, files]) => ({
    file: at(`compiler/${name}.js`),
    files,
    wanted: new Map(),
    isPart: name.startsWith('all-'),
  }));
  const groupOf = new Map();
  for (const group of groups) {
    group.files = new Set(group.files.filter((file) => !groupOf.has(file)));
    for (const file of group.files) groupOf.set(file, group);
  }
  /** What a file of a group exports as the name of a module. */
  const exportFor = ({ wanted }, from, name) => {
    const key = JSON.stringify([from, name]);
    if (!wanted.has(key)) wanted.set(key, `$${wanted.size.toString(36)}`);
    return wanted.get(key);
  };
  const all = allOf(
    entries.map((name) => at(`${name}.js`)),
    read,
  );
  for (const module of all) {
    const used = [...module.imported.values(), ...module.passedOn];
    for (const { from, name } of used) {
      const group = groupOf.get(from);
      if (group === undefined || group === groupOf.get(module.file)) continue;
      for (const each of name === '*' ? read(from).exported.keys() : [name]) exportFor(group, from, each);
    }
  }
  const texts = new Map();
  for (const group of groups) {
    if (group.files.size > 0) for (const [file, text] of await joined(group, groupOf, exportFor)) texts.set(file, text);
  }
  for (const { file } of all) {
    if (groupOf.has(file)) for (const each of [file, `${file}.map`]) rmSync(each, { force: true });
    else writeFileSync(file, leadingTo(read(file), groupOf, exportFor));
  }
  for (const [file, text] of texts) writeFileSync(file, text);
}

/** The modules that these lead to, and those that are loaded by `import()`. */
function allOf(files, read, found = new Set()) {
  for (const module of files.map(read)) {
    if (found.has(module)) continue;
    found.add(module);
    allOf([...module.imports, ...module.loads], read, found);
  }
  return found;
}

/** The texts of the file of a group and of its map. */
async function joined({ file, files, wanted, isPart }, groupOf, exportFor) {
  const own = groupOf.get([...files][0]);
  const lines = [...wanted].map(([key, as]) => {
    const [from, name] = JSON.parse(key);
    return `export { ${name} as ${as} } from ${JSON.stringify(from)};`;
  });
  // What a part exports of its own.
  if (files.has(file)) lines.push(`export * from ${JSON.stringify(file)};`);
  const away = {
    name: 'other-files',
    setup(build) {
      build.onResolve({ filter: /^[./]/ }, ({ path: source, resolveDir, kind }) => {
        const path = join(source.startsWith('/') ? '/' : resolveDir, source);
        if (kind === 'dynamic-import' || !groupOf.has(path))
          return { path: pathTo(file, path), external: true, sideEffects: false };
        // Named by its way from here: names come into what is made.
        if (groupOf.get(path) !== own)
          return { path: pathTo(file, path), namespace: 'joined', pluginData: path, sideEffects: false };
        return { path, sideEffects: false };
      });
      build.onResolve({ filter: /^file:/ }, ({ path }) => ({
        path: path.slice('file:'.length),
        external: true,
        sideEffects: false,
      }));
      build.onLoad({ filter: /./, namespace: 'joined' }, ({ pluginData: path }) => {
        const group = groupOf.get(path);
        const names = [...group.wanted.keys()].map((key) => JSON.parse(key)).filter(([from]) => from === path);
        const list = names.map(([from, name]) => `${exportFor(group, from, name)} as ${name}`).join(', ');
        return { contents: `export { ${list} } from "file:${pathTo(file, group.file)}";` };
      });
    },
  };
  const { outputFiles } = await build({
    stdin: { contents: lines.join('\n'), resolveDir: dirname(file), sourcefile: 'joined' },
    bundle: true,
    format: 'esm',
    target: 'es2022',
    charset: 'ascii',
    legalComments: 'none',
    // What the parts hold has been taken out of modules by functions and branches, and has no other source.
    sourcemap: !isPart,
    treeShaking: true,
    write: false,
    outfile: file,
    plugins: [away],
  });
  return outputFiles.map(({ path, text }) => [path, path.endsWith('.map') ? mapOf(text) : text]);
}

/** A map whose sources come with the package: those in TypeScript as they are, what was made on the way in the map itself. */
function mapOf(text) {
  const map = JSON.parse(text);
  map.sourcesContent = map.sourcesContent.map((content, k) => (map.sources[k].endsWith('.ts') ? null : content));
  map.sources = map.sources.map((source) => source.replace(/^joined:/, ''));
  return JSON.stringify(map);
}

/** The text of a module, with what it takes from modules that have been joined. */
function leadingTo(module, groupOf, exportFor) {
  const text = new MagicString(module.text);
  for (const node of module.body) {
    const from = node.source && join(dirname(module.file), node.source.value);
    const group = groupOf.get(from);
    if (group === undefined) continue;
    const isExport = node.type === 'ExportNamedDeclaration';
    const names = node.specifiers.map(({ local, imported, exported }) =>
      isExport
        ? `${exportFor(group, from, local.name)} as ${exported.name}`
        : `${exportFor(group, from, imported.name)} as ${local.name}`,
    );
    const lines = module.text.slice(node.start, node.end).replaceAll(/[^\n]/g, '');
    const word = isExport ? 'export' : 'import';
    text.overwrite(
      node.start,
      node.end,
      `${word} { ${names.join(', ')} } from "${pathTo(module.file, group.file)}";${lines}`,
    );
  }
  return text.toString();
}

function pathTo(from, to) {
  const way = relative(dirname(from), to).replaceAll('\\', '/');
  return way.startsWith('.') ? way : `./${way}`;
}
