/**
 * `llms.txt` and `llms-full.txt` (https://llmstxt.org): the guide as language models read it, and each page as Markdown beside its HTML.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GUIDE } from './guide.ts';
import type { SitePage } from './page.ts';

const ABOUT = `# Tsamba

> Numba for TypeScript: GPU kernels as ordinary TypeScript functions, compiled when they are first launched, for NVIDIA GPUs (PTX), OpenCL, HIP,
> WebGPU and the CPU (WebAssembly), with Numba's memory model.
`;

/** Writes the files to the built site. */
export function writeLlms(pages: readonly SitePage[], output: string, base: string): void {
  const byPath = new Map(pages.map((page) => [page.path, page]));
  const chapters = GUIDE.map(({ title, pages: names }) => {
    const found = names.flatMap((name) => byPath.get(name.replace('../', '').toLowerCase()) ?? byPath.get(name) ?? []);
    const lines = found.map(({ path, title, summary }) => `- [${title}](${base}${path}.md): ${summary}`);
    return { found, text: `## ${title}\n\n${lines.join('\n')}\n` };
  });
  const more = `## Optional

- [The whole guide in one file](${base}llms-full.txt): all of the above.
- [Gallery](${base}gallery.md): whole programs, each of which the tests run.
- [API reference](${base}api/): every public name with its types, errors and an example.
`;
  writeFileSync(join(output, 'llms.txt'), `${ABOUT}\n${chapters.map(({ text }) => text).join('\n')}\n${more}`);
  const full = chapters
    .flatMap(({ found }) => found)
    .filter(({ path }) => path !== 'changelog' && path !== 'decisions');
  writeFileSync(join(output, 'llms-full.txt'), `${ABOUT}\n${full.map(({ text }) => text).join('\n\n---\n\n')}`);
  for (const { path, text } of pages) {
    const file = join(output, `${path}.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
