/**
 * Source maps lead to sources that are in the package: those of the library and the suite lie under `dist/src`, and what is bundled from
 * other packages is written into the map. Debuggers and stack traces then show TypeScript.
 */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** Copies what the maps of `dist` name, and lets them name the copies. */
export function shipSources(root, dist) {
  const maps = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js.map'));
  const copied = new Map();
  for (const name of maps) {
    const file = join(dist, name);
    const map = JSON.parse(readFileSync(file, 'utf8'));
    const folder = dirname(file);
    const contents = map.sourcesContent ?? map.sources.map(() => null);
    map.sources = map.sources.map((source, at) => {
      const from = resolve(folder, map.sourceRoot ?? '', source);
      if (from.startsWith(join(dist, 'src') + sep)) return source;
      if (!copied.has(from)) copied.set(from, copyOf(root, dist, from));
      const to = copied.get(from);
      if (to !== undefined) return relative(folder, to).replaceAll('\\', '/');
      // Helpers that bundlers make are in no file.
      if (existsSync(from)) contents[at] = readFileSync(from, 'utf8');
      return source.replace(/^.*node_modules\//, '../../');
    });
    if (contents.some((text) => text !== null)) map.sourcesContent = contents;
    delete map.sourceRoot;
    writeFileSync(file, JSON.stringify(map));
  }
}

/** The copy of a source of ours; undefined for those of others. */
function copyOf(root, dist, from) {
  const ours = from.startsWith(join(root, 'src') + sep) ? join(root, 'src') : root;
  const isOurs = ours !== root || from.startsWith(join(root, 'testsuite') + sep);
  if (!isOurs || !existsSync(from)) return undefined;
  const to = join(dist, 'src', relative(ours, from));
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  return to;
}
