/**
 * The reference, made of the documentation comments by typedoc: for each entry point an overview, and a page for each module of the
 * sources that it exports from. A public name without documentation ends the build.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SidebarItem } from './page.ts';
import { type Comment, type CommentPart, memberText, type Reflection, signatureText, typeText } from './reflection.ts';
import { put, ROOT } from './stage.ts';

const SITE = join(ROOT, 'site');
const JSON_FILE = join(SITE, '.vitepress/cache/api.json');

const KIND = {
  variable: 32,
  function: 64,
  class: 128,
  interface: 256,
  constructor: 512,
  alias: 2097152,
  reference: 4194304,
};

const TITLES: Readonly<Record<number, string>> = {
  [KIND.variable]: 'value',
  [KIND.function]: 'function',
  [KIND.class]: 'class',
  [KIND.interface]: 'interface',
  [KIND.alias]: 'type',
};

/** Folders and modules whose names say too little. */
const NAMES: Readonly<Record<string, string>> = {
  array: 'arrays',
  compiler: 'arithmetic of integers',
  'cuda/bessel': 'Bessel functions',
  'cuda/bits': 'bits and rounding',
  'cuda/caches': 'cache hints',
  'cuda/collectives': 'blocks and warps together',
  'cuda/half': 'half precision',
  'cuda/host': 'devices, memory, kernels',
  'cuda/library': 'reductions, products, graphs',
  'cuda/math': 'mathematical functions',
  'cuda/spaces': 'shared, local, constant memory',
  'cuda/sync': 'barriers and fences',
  'cuda/geometry': 'where a thread is',
  'cuda/warp': 'warps',
  driver: 'devices',
  dtype: 'data types',
  kernel: 'kernels',
  matmul: 'products of matrices',
  profile: 'profiling',
  reduce: 'reductions',
  'roc/host': 'devices, memory, kernels',
  stream: 'streams and events',
  ufunc: 'universal functions',
};

/** Writes all pages of the reference, and gives their sidebar. */
export function writeApi(): SidebarItem[] {
  const entries = readEntries();
  const missing = entries.flatMap(({ name, children = [] }) =>
    children
      .filter((each) => each.kind !== KIND.reference && !isDocumented(each))
      .map((each) => `${name}: ${each.name}`),
  );
  if (missing.length > 0) throw new Error(`public names without documentation:\n${missing.join('\n')}`);
  const sidebar = entries.map(writeEntry);
  put('api/index.md', overview(entries));
  return [{ text: 'All entry points', link: '/api/' }, ...sidebar];
}

/** What typedoc makes of the sources; kept until a source changes, as it takes the time of a build. */
function readEntries(): readonly Reflection[] {
  const built = join(ROOT, '.cache/built');
  const fresh = existsSync(JSON_FILE) && existsSync(built) && statSync(JSON_FILE).mtimeMs > statSync(built).mtimeMs;
  if (!fresh) {
    const args = ['typedoc', '--logLevel', 'Error', '--json', JSON_FILE];
    const { status } = spawnSync('npx', args, { cwd: SITE, stdio: 'inherit', shell: process.platform === 'win32' });
    if (status !== 0) throw new Error('typedoc failed');
  }
  const { children = [] } = JSON.parse(readFileSync(JSON_FILE, 'utf8')) as Reflection;
  return [...children].sort((a, b) => order(a) - order(b) || a.name.localeCompare(b.name));
}

const order = ({ name }: Reflection): number => {
  const at = ['index', 'cuda', 'roc', 'parallel', 'nccl'].indexOf(name);
  return at < 0 ? 9 : at;
};

/** `tsamba`, `tsamba/cuda`, `tsamba/vite`. */
const specifier = ({ name }: Reflection): string =>
  name === 'index' ? 'tsamba' : `tsamba/${name.replace(/^plugins\//, '').replace(/\/index$/, '')}`;
const folder = (entry: Reflection): string => specifier(entry).replace('/', '-');

function isDocumented(each: Reflection): boolean {
  const declaration = each.type?.declaration;
  if (each.comment?.blockTags?.some(({ tag }) => tag === '@deprecated')) return true;
  const candidates = [each, declaration, ...(each.signatures ?? []), ...(declaration?.signatures ?? [])];
  return candidates.some((candidate) => (candidate?.comment?.summary?.length ?? 0) > 0);
}

/** What a name is grouped by: modules of the entry's own folder by themselves, others by their folders. */
function moduleOf(each: Reflection, entry: Reflection): string {
  const file = (each.sources?.[0]?.fileName ?? 'other').replace(/^.*\bsrc\//, '').replace(/(?:\/index)?\.ts$/, '');
  const own = `${entry.name.replace(/\/.*/, '')}/`;
  return file.startsWith(own) ? file : file.replace(/\/.*/, '');
}

function writeEntry(entry: Reflection): SidebarItem {
  const own = (entry.children ?? []).filter(({ kind }) => kind !== KIND.reference);
  const modules = groupBy(own, (each) => moduleOf(each, entry));
  const items: SidebarItem[] = [];
  for (const [module, names] of [...modules].sort(([a], [b]) => title(a).localeCompare(title(b)))) {
    const path = `api/${folder(entry)}/${module.replaceAll('/', '-')}`;
    const taken = new Set<string>();
    const parts = names.map((each) => nameText(each, specifier(entry), taken));
    put(`${path}.md`, `---\noutline: 2\n---\n\n# ${specifier(entry)}: ${title(module)}\n\n${parts.join('\n\n')}\n`);
    items.push({ text: title(module), link: `/${path}` });
  }
  return { text: specifier(entry), collapsed: true, items };
}

function groupBy<T>(list: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of list) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}

const title = (module: string): string => {
  const words = NAMES[module] ?? (module.split('/').at(-1) ?? module).replaceAll('-', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** An anchor of the page: a value and a type may have one name. */
function anchor(name: string, taken: Set<string>): string {
  const free = taken.has(name) ? `${name}-type` : name;
  taken.add(free);
  return ` {#${free}}`;
}

function nameText(each: Reflection, from: string, taken: Set<string>): string {
  const calls = each.signatures ?? each.type?.declaration?.signatures ?? [];
  const commented = [each, each.type?.declaration, ...calls].find((one) => (one?.comment?.summary?.length ?? 0) > 0);
  const waits = calls.some(({ type }) => type?.name === 'Promise') ? ' · returns a promise' : '';
  const members = membersOf(each);
  return [
    `## ${each.name}${anchor(each.name, taken)}`,
    `<span class="kind">${kindText(each, calls)} of <code>${from}</code>${waits}</span>`,
    code(declarationText(each)),
    commentText(commented?.comment),
    parameterTable(calls.at(-1) ?? each),
    ...members.map((member) => memberSection(each, member, taken)),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** A value that can be called is a function to its readers. */
function kindText({ kind }: Reflection, calls: readonly Reflection[]): string {
  return kind === KIND.variable && calls.length > 0 ? 'function' : (TITLES[kind] ?? '');
}

function declarationText(each: Reflection): string {
  const generics = each.typeParameters?.map(({ name }) => name).join(', ');
  const name = generics === undefined ? each.name : `${each.name}<${generics}>`;
  const parents = each.extendedTypes?.map(typeText).join(', ');
  if (each.kind === KIND.class) return `class ${name}${parents === undefined ? '' : ` extends ${parents}`}`;
  if (each.kind === KIND.interface) return `interface ${name}${parents === undefined ? '' : ` extends ${parents}`}`;
  if (each.kind === KIND.alias) return shortened(`type ${name} = ${typeText(each.type)}`);
  if (each.signatures !== undefined)
    return each.signatures.map((signature) => signatureText(signature, each.name)).join('\n');
  return shortened(memberText(each));
}

/** Types of a page's length say less than their name. */
const shortened = (text: string): string => (text.length <= 900 ? text : `${text.slice(0, 880)} …`);

/** Members that are worth a section: those with documentation. */
function membersOf(each: Reflection): readonly Reflection[] {
  const children = each.children ?? each.type?.declaration?.children ?? [];
  return children.filter(
    (child) => child.flags?.isInherited !== true && !child.name.startsWith('[') && child.kind !== KIND.constructor,
  );
}

function memberSection(each: Reflection, member: Reflection, taken: Set<string>): string {
  const calls = member.signatures ?? member.type?.declaration?.signatures ?? [];
  const commented = [member, member.getSignature, member.type?.declaration, ...calls].find(
    (one) => (one?.comment?.summary?.length ?? 0) > 0,
  );
  const parts = [
    `### ${escaped(member.name)}${anchor(`${each.name}-${member.name}`, taken)}`,
    code(shortened(memberText(member))),
    commentText(commented?.comment),
    parameterTable(calls.at(-1)),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function parameterTable(signature: Reflection | undefined): string {
  const rows = (signature?.parameters ?? []).filter(({ comment }) => (comment?.summary?.length ?? 0) > 0);
  if (rows.length === 0) return '';
  const lines = rows.map(({ name, comment }) => `| \`${name}\` | ${cell(partsText(comment?.summary))} |`);
  return `| parameter | |\n|---|---|\n${lines.join('\n')}`;
}

const BLOCKS: Readonly<Record<string, string>> = {
  '@returns': '**Returns** ',
  '@throws': '**Throws** ',
  '@deprecated': '**Deprecated.** ',
  '@remarks': '',
  '@see': '**See** ',
};

function commentText(comment: Comment | undefined): string {
  const blocks = (comment?.blockTags ?? []).map(({ tag, content }) => {
    if (tag === '@example') return `**Example**\n\n${example(content)}`;
    return BLOCKS[tag] === undefined ? '' : `${BLOCKS[tag]}${partsText(content)}`;
  });
  return [partsText(comment?.summary), ...blocks].filter((part) => part !== '').join('\n\n');
}

function example(content: readonly CommentPart[]): string {
  const text = content.map((part) => part.text).join('');
  return text.includes('```') ? text : code(text.trim());
}

function partsText(parts: readonly CommentPart[] | undefined): string {
  return (parts ?? [])
    .map(({ kind, text }) => (kind === 'code' ? text : kind === 'inline-tag' ? `\`${text}\`` : escaped(text)))
    .join('')
    .trim();
}

/** Text that is neither HTML nor Vue's. Links to files of the repository mean nothing on the site. */
function escaped(text: string): string {
  return text
    .replaceAll('<', '&lt;')
    .replaceAll('{{', '&#123;&#123;')
    .replace(/\[([^\]]*)\]\((?!https?:)[^)]*\)/g, '$1');
}

const cell = (text: string): string => text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|');
const code = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``;

function overview(entries: readonly Reflection[]): string {
  const parts = entries.map((entry) => {
    const names = [...(entry.children ?? [])].sort((a, b) => a.name.localeCompare(b.name));
    const links = names.map((each) => {
      if (each.kind === KIND.reference) return `\`${each.name}\``;
      return `[\`${each.name}\`](./${folder(entry)}/${moduleOf(each, entry).replaceAll('/', '-')}.md#${each.name})`;
    });
    return `## ${specifier(entry)}\n\n${links.join(' · ')}`;
  });
  return `# API reference

Every public name, with its documentation. Names without a link are also exported by another entry point, which has the link. The tests run every example.

${parts.join('\n\n')}
`;
}
