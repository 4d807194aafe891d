/**
 * The gallery: a page for each program of `examples/`, with what it says it does, its picture where `docs/images` has one, and its source.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SitePage, summaryOf, titleOf } from './page.ts';

/** Files of an example that are not worth a page. */
const HELPERS: ReadonlySet<string> = new Set(['tour/main', 'tour/montage', 'tour/png', 'tour/report']);

interface Example {
  readonly name: string;
  readonly about: string;
  readonly code: string;
  readonly picture: string | undefined;
}

/** `gallery`, and a page for each example. */
export function galleryPages(root: string): SitePage[] {
  const names = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => /^[\w/-]+\.ts$/.test(name) && !HELPERS.has(name.slice(0, -3)) && !name.includes('node_modules'));
  const examples = names.sort().map((name) => example(root, name.slice(0, -'.ts'.length)));
  return [overview(examples), ...examples.map(page)];
}

function example(root: string, name: string): Example {
  const code = readFileSync(join(root, `examples/${name}.ts`), 'utf8').replace(
    /'(?:\.\.\/)+src\/index\.ts'/g,
    "'tsamba'",
  );
  const header = /^\/\*\*([\s\S]*?)\*\//.exec(code)?.[1] ?? '';
  const about = header.replace(/^ *\* ?/gm, '').trim();
  const picture = ['png', 'webp', 'jpg'].map((type) => `images/${name.replaceAll('/', '-')}.${type}`);
  return { name, about, code, picture: picture.find((file) => existsSync(join(root, 'docs', file))) };
}

function overview(examples: readonly Example[]): SitePage {
  const cards = examples.map(({ name, about, picture }) => {
    const image = picture === undefined ? '' : `<img src="/${picture}" alt="" loading="lazy">`;
    const text = escaped(about.split(/\n\s*\n/)[0] ?? '');
    // In a line of its own begins a paragraph, which would be one cell of the grid: the block of HTML goes on to the next empty line.
    return `<a class="card" href="./gallery/${name}">${image}<strong>${title(name)}</strong><span>${text.replace(/\s+/g, ' ')}</span></a>`;
  });
  const text = `# Gallery

Whole programs from \`examples/\`, each run by the tests on the CPU device and the simulator.

![From the tour: a photograph, blurred, its edges, the Mandelbrot set, heat spreading on a plate](/images/tour.png)

<div class="gallery">
${cards.join('\n')}
</div>
`;
  return { path: 'gallery', title: 'Gallery', text, summary: summaryOf(text) };
}

function page({ name, about, code, picture }: Example): SitePage {
  const image = picture === undefined ? '' : `![${title(name)}](/${picture})\n\n`;
  const text = `# ${title(name)}\n\n${about}\n\n${image}\`\`\`ts\n${code}\`\`\`\n`;
  return { path: `gallery/${name}`, title: titleOf(text), text, summary: summaryOf(text) };
}

/** Names whose words do not make their title. */
const TITLES: Readonly<Record<string, string>> = {
  equalise: 'Histogram equalisation',
  'k-means': 'k-means',
  matmul: 'Matrix product',
  'n-body': 'n-body simulation',
  option: 'Price of an option',
  pagerank: 'PageRank',
  photo: 'Photograph filters',
  pi: 'π',
  search: 'Nearest vectors',
};

function title(name: string): string {
  const last = name.split('/').at(-1) ?? name;
  const own = TITLES[last];
  const words = own ?? last.replaceAll('-', ' ');
  const folder = name.startsWith('several-gpus/') ? ' on several GPUs' : '';
  return `${own ?? words.charAt(0).toUpperCase() + words.slice(1)}${folder}`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('{', '&#123;').replaceAll('`', '');
}
