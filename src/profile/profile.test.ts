import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { freshCpuDevice, freshQueueingDevice } from '../../test/support/with-device.ts';
import { stream as createStream, deviceArray, profile, synchronize, toDevice } from '../cuda/host.ts';
import { withFaults } from '../memory/with-faults.ts';
import { nvtx } from '../stream/nvtx.ts';
import { type TraceEvent, traceOf } from './chrome.ts';
import { observing } from './observing.ts';
import type { Taken } from './records.ts';
import { beforeExtension, nameForProcess, writeOwnTrace } from './trace-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsamba-trace-'));
afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a profile', () => {
  const device = freshQueueingDevice();

  it('resolves when the work it has seen is done, and takes nothing with it', async () => {
    const stream = createStream();
    const array = deviceArray(4, 'i32', { stream });
    const before = device.context.driver;
    let done = false;
    const taken = profile(() => {
      array.set(7);
      device.driver.enqueue(stream.handle, () => {
        done = true;
      });
      array.set(8);
      expect(device.context.driver).not.toBe(before);
    });
    const { events, memory } = await taken;
    expect(done).toBe(true);
    expect(events.map(({ kind, bytes, stream: track }) => [kind, bytes, track])).toEqual([
      ['fill', 16, 'stream 1'],
      ['fill', 16, 'stream 1'],
    ]);
    expect(memory[0]?.bytes).toBeGreaterThanOrEqual(16);
    expect(device.context.driver).toBe(before);
    expect(observing.current).toBeUndefined();
  });

  it('has events in the order in which they began, where a clock stands still', async () => {
    vi.spyOn(performance, 'now').mockReturnValue(5);
    const { events } = await profile(async () => {
      const outer = nvtx.range('outer');
      await nvtx.range('later', async () => nvtx.mark('mark'));
      outer.end();
      nvtx.mark('last');
    });
    vi.restoreAllMocks();
    expect(events.map(({ name }) => name)).toEqual(['outer', 'later', 'mark', 'last']);
  });

  it('says what failed, of a call that threw', async () => {
    const { events } = await profile(() =>
      withFaults({ copy: 1 }, () => {
        expect(() => toDevice([1, 2])).toThrow('made to fail');
        toDevice([1, 2]);
      }),
    );
    // Planned failures stand before the one that looks: what failed there has not been done.
    expect(events.map(({ kind, error }) => [kind, error])).toEqual([['copy', undefined]]);
    const copy = vi.spyOn(device.driver, 'copyToDevice').mockImplementation(() => {
      throw new RangeError('no');
    });
    const failed = await profile(() => expect(() => toDevice([1, 2])).toThrow('no'));
    expect(failed.events.map(({ kind, error }) => [kind, error])).toEqual([['copy', 'RangeError: no']]);
    copy.mockRestore();
  });

  it('that ends while something else stands before the driver leaves it there, and looks no more', async () => {
    const first = await profile(async () => {
      let letGo: () => void = () => undefined;
      const held = withFaults({}, () => new Promise<void>((resolve) => (letGo = resolve)));
      return { held, letGo };
    });
    first.result.letGo();
    await first.result.held;
    toDevice([1]);
    const second = await profile(() => toDevice([1]));
    expect(second.events).toHaveLength(1);
  });
});

describe('the file of a trace', () => {
  freshCpuDevice();

  it('is what the profile says, saved also when the body fails', async () => {
    const file = join(folder, 'made', 'failed-{pid}.json');
    const failing = profile(
      () => {
        toDevice([1]);
        synchronize();
        throw new Error('mine');
      },
      { file },
    );
    await expect(failing).rejects.toThrow('mine');
    const { traceEvents } = JSON.parse(readFileSync(file.replace('{pid}', String(process.pid)), 'utf8'));
    const names = traceEvents.filter(({ ph }: TraceEvent) => ph === 'X').map(({ name }: TraceEvent) => name);
    expect(names.sort()).toEqual(['copy host to device', 'enqueue copy host to device', 'synchronize']);
  });

  it('has a name for each rank, and none replaces that of another process of the same run', () => {
    expect(beforeExtension('a.b/trace', '.x')).toBe('a.b/trace.x');
    vi.stubEnv('RANK', '3');
    expect(nameForProcess('t.json')).toMatch(/^t\.rank3(\.thread\d+)?\.json$/);
    expect(nameForProcess('{rank}-{thread}.json')).toMatch(/^3-\d+\.json$/);
    const empty = traceOf(
      { epoch: 0, duration: 0, events: [], overlapping: new Set(), memory: [], devices: [], dropped: 0 },
      { pid: 1, thread: 0, program: 'p' },
    );
    const file = join(folder, 'own.json');
    expect(writeOwnTrace(file, empty)).toBe(file);
    const mine = join(folder, `own.pid${process.pid}.json`);
    expect(writeOwnTrace(file, empty)).toBe(mine);
    utimesSync(file, 1, 1);
    expect(writeOwnTrace(file, empty)).toBe(file);
    expect(statSync(file).mtimeMs).toBeGreaterThan(1e6);
    expect(existsSync(mine)).toBe(true);
    rmSync(folder, { recursive: true });
  });
});

describe('a trace', () => {
  it('has microseconds since 2026, a process for each device, and both ends of what overlaps', () => {
    const gpu = { start: 2, duration: 0.5 };
    const on = { device: 'nvidia:1', stream: 'stream 1', name: 'k', gpu, start: 1, duration: 0.25 };
    const taken: Taken = {
      epoch: 1_800_000_000_000,
      duration: 9,
      events: [
        { ...on, kind: 'launch', bytes: 1e6 },
        { kind: 'range', name: 'r', start: 0, duration: 3 },
        { kind: 'mark', name: 'm', start: 4, duration: 0 },
      ],
      overlapping: new Set([1]),
      memory: [{ time: 1, device: 'nvidia:1', namespace: 'cuda', bytes: 64 }],
      devices: [{ id: 'nvidia:1', name: 'H200' }],
      dropped: 0,
    };
    const { traceEvents } = traceOf(taken, { pid: 77, thread: 2, program: 'p.ts', rank: 1 });
    const there = 2 ** 22 + 77;
    const T = (1_800_000_000_000 - Date.UTC(2026, 0, 1)) * 1000;
    const plain = traceEvents.map(({ name, ph, pid, tid, ts, dur, id }) => [name, ph, pid, tid, ts, dur, id]);
    const [none] = [undefined];
    expect(plain.slice(-6)).toEqual([
      ['enqueue k', 'X', 77, 3, T + 1000, 250, none],
      ['k', 'X', there, 2001, T + 2000, 500, none],
      ['r', 'b', 77, 3, T, none, '77.2.1'],
      ['r', 'e', 77, 3, T + 3000, none, '77.2.1'],
      ['m', 'i', 77, 3, T + 4000, none, none],
      ['memory of cuda', 'C', there, 0, T + 1000, none, none],
    ]);
    const names = traceEvents.filter(({ name }) => name.endsWith('_name'));
    expect(names.map(({ pid, tid, args }) => [pid, tid, args?.name])).toEqual([
      [77, 3, 'rank 1: p.ts'],
      [77, 3, 'worker thread 2'],
      [there, 0, 'rank 1: H200 (nvidia:1)'],
      [there, 2001, 'stream 1'],
    ]);
    expect(traceEvents.find(({ name }) => name === 'k')?.args?.['GB/s']).toBe(2);
  });
});
