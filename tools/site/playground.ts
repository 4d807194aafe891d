/**
 * The playground, used as its readers use it: every program on every device, links, errors in their lines, code of kernels.
 */
import type { Page } from '../../test/support/chromium.ts';

/** Functions of the page: waiting for what a framework mounts, and for a run to end. */
const HELPERS = `
const until = async (what, find, seconds = 30) => {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await new Promise((done) => setTimeout(done, 30))) {
    const found = find();
    if (found) return found;
  }
  throw new Error('there is no ' + what + ' after ' + seconds + ' s');
};
const one = (selector) => document.querySelector('.playground ' + selector);
const fill = (selector, value, event) => {
  one(selector).value = value;
  one(selector).dispatchEvent(new Event(event));
};
const ended = async () => {
  const status = await until('end of the run', () => /ms|failed/.test(one('.status')?.textContent) && one('.status').textContent, 60);
  return (status + ' ' + (one('pre')?.textContent ?? '')).trim();
};
const press = (text) => [...document.querySelectorAll('.playground button')].find((button) => button.textContent === text).click();
const choose = async (k) => {
  one('select').selectedIndex = k;
  one('select').dispatchEvent(new Event('change'));
  await new Promise((done) => setTimeout(done, 50));
  return ended();
};
`;

/** Programs that fail, and the line of the editor that must say so. */
const FAILING: readonly (readonly [code: string, line: number, message: string])[] = [
  [`print(1);\nconst a = ;\n`, 2, 'Unexpected token'],
  [`print(1);\n\nundefined.shape;\n`, 3, 'Cannot read properties of undefined'],
  [
    `import { cuda } from 'tsamba';\n\nconst k = cuda.jit((a) => {\n  const i = cuda.grid(1);\n  a[i] = nothing;\n});\nawait k.launchAsync({ threads: 4 }, cuda.deviceArray(4, 'f32'));\n`,
    5,
    'K010',
  ],
  [
    `import { cuda } from 'tsamba';\nconst far = cuda.jit((a) => {\n  a[10] = 1;\n}, { debug: true });\nawait far.launchAsync({ threads: 4 }, cuda.deviceArray(4, 'f32'));\nawait cuda.synchronizeAsync();\n`,
    3,
    'index 10 is out of range',
  ],
  [
    `import { cuda } from 'tsamba';\nconst k = cuda.jit((a) => {\n  a[0] = 1;\n});\nawait k.launchAsync({ threads: 4 });\n`,
    5,
    'k takes 1 argument',
  ],
];

/** The signs by which the code of each target is known, in the order of the list. */
const SIGNS = ['ir kernel', '(line', '(module', '@compute', '.visible .entry', 'kernel void'];

/** What is wrong with it. */
export async function checkPlayground(page: Page, addressOf: (name: string) => string): Promise<readonly string[]> {
  const problems: string[] = [];
  const run = (body: string): Promise<unknown> => page.run(`${HELPERS}\n${body}`);
  const attempt = async (what: string, body: string, judge: (outcome: string) => boolean): Promise<void> => {
    const outcome = await run(body).then(String, String);
    if (!judge(outcome)) problems.push(`${what}: ${outcome.slice(0, 400)}`);
  };
  const worked = (outcome: string): boolean => /\d ms/.test(outcome) && !outcome.startsWith('failed');
  const coloured = `const canvas = one('canvas');
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    copy.drawImage(canvas, 0, 0);
    return new Set(new Uint32Array(copy.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;`;

  await page.go(addressOf('index.html'));
  await attempt(
    'the program of the start page',
    `await until('status', () => one('.status')); return ended();`,
    worked,
  );
  await attempt('colours of the picture of the start page', coloured, (outcome) => Number(outcome) >= 50);

  await page.go(addressOf('playground.html'));
  const names = (await run(
    `return Array.from((await until('list of programs', () => one('select'))).options, ({ text }) => text);`,
  )) as readonly string[];
  await run('await ended();');
  for (const device of ['CPU', 'WebGPU']) {
    if (device === 'WebGPU') {
      await attempt(
        'WebGPU',
        `await until('choice of devices', () => document.querySelectorAll('.playground select')[1]?.value === 'cpu');
        const devices = document.querySelectorAll('.playground select')[1];
        devices.value = 'webgpu'; devices.dispatchEvent(new Event('change')); return devices.value;`,
        (found) => found === 'webgpu',
      );
    }
    for (const [k, name] of names.entries()) {
      await attempt(
        `${name} on ${device}`,
        `return choose(${k});`,
        (outcome) => worked(outcome) && (device === 'CPU') === outcome.includes('on CPU'),
      );
    }
    console.log(`${names.length} programs on ${device}`);
  }
  await page.go(addressOf('playground.html'));
  await run(`await until('list of programs', () => one('select')); await ended();`);
  const codes = (await run(`const codes = [];
    for (const { value } of [...one('.target select').options]) {
      fill('.target select', value, 'change');
      await new Promise((done) => setTimeout(done, 50));
      codes.push(value + ' ' + one('pre.code').textContent);
    } return codes;`)) as readonly string[];
  SIGNS.forEach((sign, at) => {
    if (!codes[at]?.includes(sign)) problems.push(`the playground's code has no ${sign}: ${codes[at]?.slice(0, 200)}`);
  });
  for (const [code, line, message] of FAILING) {
    await attempt(
      `the line of an error (${message})`,
      `fill('textarea', ${JSON.stringify(code)}, 'input'); press('Run');
       await new Promise((done) => setTimeout(done, 50)); await ended();
       const marked = await until('marked line', () => one('.colours .marked'), 3);
       return 1 + [...marked.parentElement.children].indexOf(marked) + ' ' + marked.querySelector('.message').textContent;`,
      (outcome) => outcome.startsWith(`${line} `) && outcome.includes(message),
    );
  }
  await checkLink(page, addressOf, run, attempt);
  return problems;
}

type Attempt = (what: string, body: string, judge: (outcome: string) => boolean) => Promise<void>;

/** A program goes into the address, and comes out of it: as text, which runs when it is told to. */
async function checkLink(
  page: Page,
  addressOf: (name: string) => string,
  run: (body: string) => Promise<unknown>,
  attempt: Attempt,
): Promise<void> {
  const code = `print('Grüße, ' + 6 * 7);\n`;
  const link = await run(`fill('textarea', ${JSON.stringify(code)}, 'input'); press('Copy link');
    return until('link', () => location.hash && location.href);`);
  await page.go('about:blank');
  await page.go(String(link));
  await attempt(
    'the program of a link',
    `return (await until('text', () => one('textarea'))).value;`,
    (text) => text === code,
  );
  await attempt('a linked program', `return one('.status').textContent;`, (text) => text === 'not run yet');
  await attempt('a linked program that is run', `press('Run'); return ended();`, (text) => text.includes('Grüße, 42'));
  await page.go('about:blank');
  await page.go(`${addressOf('playground.html')}#program=%%%`);
  await attempt('a broken link', `await until('text', () => one('textarea')); return ended();`, (text) =>
    /\d ms/.test(text),
  );
}
