/**
 * WebGPU in Deno, of its own (wgpu, whose compiler of WGSL is not the browsers') and of the package `webgpu`: the built package, and chapters of the conformance suite, all of them where
 * TSAMBA_TEST_REQUIRE names `deno-all`. On SwiftShader where a browser has brought that. Skipped without Deno, which `npm run test:matrix` installs, or without an adapter, unless
 * TSAMBA_TEST_REQUIRE names `deno`.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRequired } from '../src/required.testing.ts';
import { bundleForDeno, findDeno, runDeno, runSuiteInDeno } from './support/deno.ts';
import { WEBGPU_LACKS } from './support/lacking.ts';
import { BEYOND_SWIFTSHADER } from './support/swiftshader.ts';
import { anyLavapipe, preferSwiftShader } from './support/webgpu.ts';

preferSwiftShader();

const ALL: boolean = isRequired('deno-all');
const LLVMPIPE = anyLavapipe();
/** More rounds than older ones make. */
const ROUNDS = 70_000;

const folder = mkdtempSync(join(tmpdir(), 'tsamba-deno-'));
const alone = mkdtempSync(join(tmpdir(), 'tsamba-deno-alone-'));
afterAll(() => {
  for (const each of [folder, alone]) rmSync(each, { recursive: true, force: true });
});
mkdirSync(join(folder, 'node_modules'));
symlinkSync(join(import.meta.dirname, '..'), join(folder, 'node_modules/tsamba'));

const deno = findDeno();

/** Runs a program in Deno, with the package as it is built, and gives what it prints. */
async function run(
  program: string,
  { env, flags }: { readonly env?: Readonly<Record<string, string>>; readonly flags?: readonly string[] } = {},
): Promise<string> {
  const file = join(folder, 'program.ts');
  writeFileSync(file, program);
  const { output, status } = await runDeno(deno as string, [file], { env, flags });
  if (status !== 0) throw new Error(`Deno ended with ${status}: ${output}`);
  return output;
}

/** Hides what Deno has of its own, as versions do that want a flag for it. */
const HIDDEN = 'delete Object.getPrototypeOf(navigator).gpu;';
const KERNEL = `import { cuda, type f32, type Vec } from 'tsamba';
const double = cuda.jit((a: Vec<f32>) => {
  const i = cuda.grid(1);
  if (i < a.length) a[i]! *= 2;
});`;
const WAITED = `cuda.selectDevice('webgpu');
const d = cuda.toDevice(Float32Array.of(1, 2, 3));
double.launch({ threads: 3 }, d);
console.log('got', d.copyToHost().join());
const host = Float32Array.of(4, 5);
double.launch({ threads: 2 }, host);
cuda.synchronize();
console.log('host', host.join());`;
const AWAITED = `await cuda.open('webgpu');
const d = cuda.toDevice(Float32Array.of(1, 2, 3));
await double.launchAsync({ threads: 3 }, d);
console.log('got', (await d.copyToHostAsync()).join());
try { d.copyToHost(); } catch ({ code }) { console.log(code); }`;

const why: string | undefined =
  deno === undefined
    ? 'there is no Deno'
    : /adapter (null|none)/.exec(
        await run("console.log('adapter', (await navigator.gpu?.requestAdapter()) ? 'found' : 'none');"),
      )?.[0];

describe.skipIf(why !== undefined && !isRequired('deno'))('WebGPU in Deno', () => {
  // The package is 130 MB, and nobody has to install it; continuous integration does.
  const dawn = existsSync(join(import.meta.dirname, '../node_modules/webgpu')) ? it : it.skip;

  it('is there', () => expect(why).toBe(undefined));

  it('is waited for', async () => {
    const output = await run(`${KERNEL}\n${WAITED}`);
    expect(output).toContain('got 2,4,6');
    expect(output).toContain('host 8,10');
  });

  it('answers by promises', async () => {
    const output = await run(`${KERNEL}\n${AWAITED}`);
    expect(output).toContain('got 2,4,6');
    expect(output).toContain('E_NO_WAIT');
  });

  dawn.each([
    ['waited for', WAITED],
    ['by promises', AWAITED],
  ])('is that of the package webgpu where Deno has none of its own: %s', async (_, program) => {
    expect(await run(`${HIDDEN}\n${KERNEL}\n${program}`)).toContain('got 2,4,6');
  });

  it.each([WAITED, AWAITED])('needs no permission', async (program) => {
    expect(await run(`${KERNEL}\n${program}`, { flags: ['--no-prompt'] })).toContain('got 2,4,6');
  });

  dawn.each(["await cuda.open('webgpu');", "cuda.selectDevice('webgpu');"])(
    'says which permission the package webgpu needs: %s',
    async (open) => {
      const program = `${HIDDEN}
import { cuda } from 'tsamba';
try { ${open} } catch ({ code, message }) { console.log(code, message); }`;
      const output = await run(program, { flags: ['--no-prompt', '--allow-read', '--allow-env'] });
      expect(output).toMatch(/E_NO_DEVICE there is no WebGPU device: .* --allow-ffi/);
    },
  );

  it('names the flag where Deno has none of its own, and nothing is installed', async () => {
    // The library looks beside the program and beside the executable: neither has the package where both are alone.
    const apart = join(alone, 'deno');
    copyFileSync(deno as string, apart);
    const bundle = await bundleForDeno(join(import.meta.dirname, 'support/deno-missing.ts'), alone);
    const { output } = await runDeno(apart, [bundle]);
    expect(output).toMatch(/E_NO_DEVICE .*there is no navigator.gpu: .*--unstable-webgpu.* or npm install webgpu/);
  });

  // A driver of the system, which not all have.
  it.skipIf(LLVMPIPE === undefined).each(["await cuda.open('webgpu');", "cuda.selectDevice('webgpu');"])(
    'makes all rounds on llvmpipe, or is refused: %s',
    async (open) => {
      const program = `import { cuda, type i32, type Vec } from 'tsamba';
const count = cuda.jit((a: Vec<i32>) => {
  let n = 0;
  while (n !== a[0]) n++;
  a[1] = n;
});
try {
  ${open}
  const a = cuda.toDevice(Int32Array.of(${ROUNDS}, 0));
  await count.launchAsync({ threads: 1 }, a);
  console.log('made', (await a.copyToHostAsync())[1]);
} catch ({ code, message }) { console.log(code, message); }
cuda.selectDevice('cpu');
console.log('then', cuda.currentDevice().kind);`;
      const output = await run(program, { env: { VK_ICD_FILENAMES: LLVMPIPE as string } });
      const refusal = /E_NO_DEVICE there is no WebGPU device that computes right: llvmpipe .* after 65,535 rounds/;
      expect(output.includes(`made ${ROUNDS}\n`) || refusal.test(output), output).toBe(true);
      expect(output).toContain('then cpu');
    },
  );

  describe('the suite', () => {
    let bundle: string;
    beforeAll(async () => {
      bundle = await bundleForDeno(join(import.meta.dirname, 'support/deno-program.ts'), folder);
    }, 120_000);

    it.each([
      {
        waits: true,
        least: 90,
        chapters: ['geometry', 'barriers', 'warps', 'atomics', 'faults', 'streams and events'],
      },
      { waits: false, least: 75, chapters: ['launch', 'device arrays', 'asynchronous launches and timeouts'] },
    ])('waits: $waits', { timeout: 60 * 60_000 }, async ({ waits, least, chapters }) => {
      const result = await runSuiteInDeno(deno as string, bundle, {
        waits,
        chapters: ALL ? undefined : chapters,
        without: BEYOND_SWIFTSHADER,
        lacks: WEBGPU_LACKS,
      });
      expect(result.failed).toEqual([]);
      expect(result.passed).toBeGreaterThan(ALL ? 800 : least);
      // The plugin says what nearly all kernels capture.
      expect(result.blind).toBeLessThan(ALL ? 60 : 10);
    });
  });
});
