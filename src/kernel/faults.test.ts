/** What a kernel failed at reaches whoever reads its results, by whichever call. */
import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { bundled, runText } from '../../test/support/program.ts';
import { cuda, type Event, type f32 as F32, f32, type Stream, type Vec } from '../index.ts';

const outside = cuda.jit((a: Vec<F32>, n: number) => {
  const i = cuda.grid(1);
  a[i + n] = 1;
});

afterAll(() => cuda.close());

const config = { grid: 1, block: 4 };

function recorded(stream?: Stream): Event {
  const event = cuda.event();
  event.record(stream);
  return event;
}

describe.each(['cpu', 'simulator'] as const)('the fault of a launch on the device %s', (device) => {
  cuda.selectDevice(device);
  const d = cuda.deviceArray(4, f32);
  const [s, other] = [cuda.stream(), cuda.stream()];

  const calls: readonly [string, boolean, () => unknown][] = [
    ['copyToHost()', true, () => d.copyToHost()],
    ['get', true, () => d.get(0)],
    ['copyToDevice', true, () => d.copyToDevice(new Float32Array(4))],
    ['copyToHostAsync()', true, () => d.copyToHostAsync()],
    ['copyToHostAsync on its stream', false, () => d.copyToHostAsync({ stream: s })],
    ['done()', false, () => s.done()],
    ['synchronize of its stream', false, () => s.synchronize()],
    ['synchronize of the device', true, () => cuda.synchronize()],
    [
      'a stream that waited for its event',
      false,
      () => {
        recorded(s).wait(other);
        other.synchronize();
      },
    ],
    ['an event after it', true, () => recorded().synchronize()],
  ];
  it.each(calls)('is thrown by %s, once', async (_, anyStream, call) => {
    cuda.selectDevice(device);
    for (const stream of anyStream ? [undefined, s] : [s]) {
      outside.launch({ ...config, stream }, d, 2);
      await expect((async () => call())()).rejects.toThrow('index 4 is out of range for a (length 4)');
      cuda.synchronize();
    }
  });

  it('is not thrown by streams that have nothing to do with it', () => {
    cuda.selectDevice(device);
    const early = recorded(s);
    outside.launch({ ...config, stream: s }, d, 2);
    early.wait(other);
    other.synchronize();
    early.synchronize();
    expect(() => s.synchronize()).toThrow('out of range');
  });
});

describe('a fault that nobody observes', () => {
  const library = bundled('src/index.ts')('index.ts');
  const run = (then: string): { status: number | null; stderr: string } => {
    const program = `
      import { cuda, f32 } from ${JSON.stringify(library)};
      const outside = cuda.jit((a) => { a[9] = 1; });
      const d = cuda.deviceArray(1, f32);
      const stream = cuda.stream();
      outside.launch({ grid: 1, block: 1, stream }, d);
      ${then}`;
    return spawnSync(process.execPath, runText(program), {
      encoding: 'utf8',
      env: { ...process.env, TSAMBA_DEVICE: 'simulator' },
      timeout: 30_000,
    });
  };

  it.each([
    ['the program ends', ''],
    ['it exits', 'process.exit(0);'],
    ['its array and stream are disposed', 'd.dispose(); stream.dispose();'],
    ['the device is closed', 'cuda.close();'],
    ['the context is reset', 'cuda.currentContext().reset();'],
  ])('is printed and makes the exit code 1 when %s', (_, then) => {
    const { status, stderr } = run(then);
    expect(stderr).toContain('index 9 is out of range for a (length 1)');
    expect(status).toBe(1);
  });

  it('is none when somebody catches it', () => {
    expect(run('try { stream.synchronize(); } catch {} cuda.close();')).toMatchObject({ status: 0, stderr: '' });
  });
});
