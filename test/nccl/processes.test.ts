/**
 * Communicators between processes: they meet, compute, and end when one of them is killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsamba-nccl-'));
const program = join(folder, 'rank.mjs');
const tsamba = join(folder, 'main.mjs');

const EXAMPLES = [
  ['heat', ['48', '6'], /^\[0\] 48 x 48, 6 steps: checksum [\da-f]{8}$/m],
  ['pi', ['50000'], /^\[0\] pi is about 3\.1\d+: \d+ of 50000 points$/m],
  ['k-means', ['2000', '3'], /^\[0\] \d+\.\d{3} \d+\.\d{3} \d+\.\d{3}(\n\[0\] .*){7}/m],
] as const;

// In one file, which starts in a fraction of the time.
beforeAll(async () => {
  await build({
    entryPoints: {
      rank: join(import.meta.dirname, 'rank.ts'),
      main: join(import.meta.dirname, '../../src/cli/main.ts'),
      ...Object.fromEntries(
        EXAMPLES.map(([name]) => [name, join(import.meta.dirname, `../../examples/several-gpus/${name}.ts`)]),
      ),
    },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['koffi', 'webgpu'],
  });
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Rank {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  text: string;
}

async function start(size: number, mode: string, tokens: readonly string[] = []): Promise<readonly Rank[]> {
  const port = await freePort();
  return Array.from({ length: size }, (_, rank) => {
    const env = {
      ...process.env,
      RANK: String(rank),
      WORLD_SIZE: String(size),
      MASTER_ADDR: '127.0.0.1',
      MASTER_PORT: String(port),
      TSAMBA_NCCL_TOKEN: tokens[rank] ?? 'secret',
      NODE_NO_WARNINGS: '1',
    };
    const child = spawn(process.execPath, [program, mode], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'close').then(([code]) => code as number | null);
    const one: Rank = { child, ended, text: '' };
    const add = (text: Buffer): void => void (one.text += String(text));
    child.stdout?.on('data', add);
    child.stderr?.on('data', add);
    return one;
  });
}

it('two processes give the same bits', { timeout: 300_000 }, async () => {
  const ranks = await start(2, 'sum');
  expect(await Promise.all(ranks.map(({ ended }) => ended))).toEqual([0, 0]);
  expect(ranks.map(({ text }) => text.trim())).toEqual([
    'rank 0 of 2: 3 0.30000000000000004',
    'rank 1 of 2: 3 0.30000000000000004',
  ]);
});

it('three processes make every call on every type', { timeout: 300_000 }, async () => {
  const ranks = await start(3, 'all');
  expect(await Promise.all(ranks.map(({ ended }) => ended)), ranks.map(({ text }) => text).join('\n')).toEqual([
    0, 0, 0,
  ]);
  for (const { text } of ranks) expect(text).toMatch(/\n\d{3} checks, 0 failed\n/);
});

it('a rank that is killed in a collective is named by all others, which end', { timeout: 300_000 }, async () => {
  const ranks = await start(3, 'until killed');
  const [, killed] = ranks;
  while (!killed?.text.includes('rank 1 of 3')) await new Promise((resolve) => setTimeout(resolve, 20));
  killed.child.kill('SIGKILL');
  expect(await Promise.all(ranks.map(({ ended }) => ended))).toEqual([3, null, 3]);
  for (const rank of [ranks[0], ranks[2]]) expect(rank?.text).toContain('E_NCCL_LOST 1');
});

it('a process that does not know the token is not let in', { timeout: 300_000 }, async () => {
  const ranks = await start(2, 'sum', ['secret', 'guess']);
  expect(await ranks[1]?.ended).toBe(1);
  expect(ranks[1]?.text).toContain('TSAMBA_NCCL_TOKEN must be the same for all ranks');
  ranks[0]?.child.kill();
  await ranks[0]?.ended;
});

function command(
  ranks: number,
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly text: string }> {
  const env = { ...process.env, TSAMBA_DEVICE: 'cpu', NODE_NO_WARNINGS: '1' };
  const child = spawn(process.execPath, [tsamba, 'run', '--transport', 'reference', '--gpus', String(ranks), ...args], {
    env,
  });
  let text = '';
  const add = (piece: Buffer): void => void (text += String(piece));
  child.stdout.on('data', add);
  child.stderr.on('data', add);
  return once(child, 'close').then(([code]) => ({ code: code as number | null, text }));
}

/** Whether a process is there and has not ended: one that nobody has asked for its end is still listed. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && process.platform !== 'linux';
  }
}

it('tsamba run starts the ranks and prefixes what they print', { timeout: 300_000 }, async () => {
  const { code, text } = await command(2, program, 'sum');
  expect(code).toBe(0);
  expect(text).toContain('[0] rank 0 of 2: 3 0.30000000000000004\n');
  expect(text).toContain('[1] rank 1 of 2: 3 0.30000000000000004\n');
});

it('tsamba run ends all ranks, and what they have started, when one fails', { timeout: 300_000 }, async () => {
  const failing = join(folder, 'failing.mjs');
  writeFileSync(
    failing,
    `import { spawn } from 'node:child_process';
    if (process.env.RANK === '1') process.exit(7);
    console.log('child', spawn('sleep', ['1000'], { stdio: 'ignore' }).pid);
    setInterval(() => undefined, 1000);`,
  );
  const { code, text } = await command(2, failing);
  expect(code).toBe(7);
  expect(text).toContain('tsamba run: rank 1 ended with exit code 7; the others are ended');
  const [, pid] = /child (\d+)/.exec(text) ?? [];
  // Whoever takes over what has lost its parent may take a moment to notice that it has ended.
  await expect.poll(() => isRunning(Number(pid)), { timeout: 10_000 }).toBe(false);
});

it.each(EXAMPLES)(
  '%s has the same bits on one process and on two',
  { timeout: 300_000 },
  async (name, args, prints) => {
    const [one] = prints.exec((await command(1, join(folder, `${name}.mjs`), ...args)).text) ?? ['nothing'];
    const { text } = await command(2, join(folder, `${name}.mjs`), ...args);
    expect(text).toMatch(prints);
    expect(text).toContain(one);
  },
);
