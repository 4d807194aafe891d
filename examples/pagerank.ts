/**
 * PageRank of the npm packages that this repository is built with: a package passes its rank on to those that it depends on.
 *
 *     npx tsx examples/pagerank.ts [package-lock.json]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cuda } from '../src/index.ts';
import { map, permute, reduce, segmentedReduce, topK, transform, zip } from '../src/parallel/index.ts';

const DAMPING = 0.85;
const [path = join(import.meta.dirname, '..', 'package-lock.json')] = process.argv.slice(2);

// The graph: `sources[offsets[i] .. offsets[i + 1]]` are the packages that depend on package i.
type Package = { readonly dependencies?: object; readonly devDependencies?: object };
const packages = Object.entries(JSON.parse(readFileSync(path, 'utf8')).packages as Record<string, Package>);
const names = packages.map(([place]) => place.slice(place.lastIndexOf('node_modules/') + 13) || 'this repository');
const indices = new Map(names.map((name, i) => [name, i]));
const targets = packages.map(([, { dependencies, devDependencies }]) =>
  Object.keys({ ...dependencies, ...devDependencies }).flatMap((name) => indices.get(name) ?? []),
);
const incoming: number[][] = names.map(() => []);
targets.forEach((list, from) => {
  for (const to of list) incoming[to].push(from);
});
let edges = 0;
const offsets = Int32Array.of(0, ...incoming.map((list) => (edges += list.length)));
const sources = cuda.toDevice(Int32Array.from(incoming.flat()));
const degrees = cuda.toDevice(Float64Array.from(targets, (list) => list.length));

const n = names.length;
const segments = cuda.toDevice(offsets);
let ranks = cuda.toDevice(new Float64Array(n).fill(1 / n));
let [rounds, change] = [0, 1];
while (change > 1e-12 && rounds++ < 200) {
  // What each package gives to each of its dependencies; those without any share theirs with all.
  const shares = transform((rank, degree) => (degree > 0 ? rank / degree : 0), ranks, degrees);
  const stuck = reduce(
    map(zip({ rank: ranks, degree: degrees }), ({ rank, degree }) => (degree > 0 ? 0 : rank)),
    'sum',
  );
  const received = segmentedReduce(permute(shares, sources), segments, 'sum');
  const base = (1 - DAMPING) / n + (DAMPING * stuck) / n;
  const next = transform((sum) => base + DAMPING * sum, received);
  change = reduce(
    map(zip({ was: ranks, is: next }), ({ was, is }) => Math.abs(was - is)),
    'sum',
  );
  ranks = next;
}
const best = topK(ranks, 5);
const [values, places] = [best.values.copyToHost(), best.indices.copyToHost()];
console.log(
  `${n} packages, ${sources.size} dependencies, ${rounds} rounds, ranks sum to ${reduce(ranks, 'sum').toFixed(6)}`,
);
for (let k = 0; k < 5; k++) console.log(`${(100 * Number(values[k])).toFixed(2)} %  ${names[places[k]]}`);
