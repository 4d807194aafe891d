/**
 * Chapter: profiling, `cuda.profile` and `roc.profile`: what is seen of the work of a device, with which times, and what stays out.
 *
 * Nothing here says how long something takes. Kernels have names of their own: those of functions are lost when code is minified.
 */
import { cuda, type f32, roc, type Vec } from '../src/index.ts';
import { rejects, same, sameElements, throws } from './assert.ts';
import { type ConformanceTest, chapter } from './suite.ts';
import { launch, read } from './waiting.ts';

const SIZE = 1000;

type Profile = Awaited<ReturnType<typeof cuda.profile>>;

const makeDouble = () =>
  cuda.jit(
    (y: Vec<f32>) => {
      const i = cuda.grid(1);
      if (i < y.length) y[i] = y[i]! * 2;
    },
    { name: 'double' },
  );

const kinds = ({ events }: Profile): string[] => events.map(({ kind }) => kind).filter((kind) => kind !== 'wait');

export const profiling: readonly ConformanceTest[] = chapter('profiling', {
  'copies, launches, fills and compiling are seen, with bytes and names': async () => {
    const double = makeDouble();
    const profile = await cuda.profile(async () => {
      const d = cuda.toDevice(new Float32Array(SIZE).fill(3));
      await launch(double, { threads: SIZE }, d);
      await launch(double, { threads: SIZE }, d);
      const host = await read(d);
      d.set(0);
      return host[SIZE - 1];
    });
    same(profile.result, 12);
    sameElements(kinds(profile), ['copy', 'compile', 'launch', 'launch', 'copy', 'fill']);
    const copies = profile.events.filter(({ kind }) => kind === 'copy');
    sameElements(
      copies.map(({ direction }) => direction ?? ''),
      ['hostToDevice', 'deviceToHost'],
    );
    sameElements(
      copies.map(({ bytes }) => bytes ?? 0),
      [4 * SIZE, 4 * SIZE],
    );
    const launches = profile.events.filter(({ kind }) => kind === 'launch');
    for (const { name, stream } of launches) same(`${name} on ${stream}`, 'double on default stream');
    const { kind, index } = cuda.currentContext().info;
    same(
      profile.events.every(({ device }) => device === `${kind}:${index}`),
      true,
      'the device is named',
    );
    const row = profile.summary({ bytes: { double: 8 * SIZE } }).rows.find((each) => each.name === 'double');
    same(row?.count, 2);
    same(row?.bytes, 16 * SIZE);
  },

  'times on the device are in order on each stream, and none is before it was enqueued': async () => {
    const double = makeDouble();
    const streams = [cuda.stream(), cuda.stream()];
    const arrays = streams.map((stream) => cuda.toDevice(new Float32Array(SIZE), { stream }));
    await double.compileAsync(arrays[0]!);
    const profile = await cuda.profile(() => {
      for (let k = 0; k < 6; k++) double.launch({ threads: SIZE, stream: streams[k % 2] }, arrays[k % 2]!);
    });
    same(profile.events.length, 6);
    const timed = profile.events.filter(({ gpu }) => gpu !== undefined);
    // All or none: WebGPU without timestamp queries has no times.
    same(timed.length === 6 || (timed.length === 0 && cuda.currentContext().kind === 'webgpu'), true, 'times');
    const names = [...new Set(profile.events.map(({ stream }) => stream))];
    same(names.length, 2, 'two tracks');
    for (const name of names) {
      let end = 0;
      for (const { start, gpu } of timed.filter(({ stream }) => stream === name)) {
        same(gpu!.start >= start && gpu!.duration >= 0, true, 'begins after it was enqueued');
        same(gpu!.start >= end - 1e-3, true, 'begins after the one before');
        end = gpu!.start + gpu!.duration;
        same(end <= profile.duration + 1, true, 'ends within the profile');
      }
    }
  },

  'an error of the body is thrown again, and the profile is over': async () => {
    const double = makeDouble();
    const d = cuda.toDevice(new Float32Array(SIZE).fill(1));
    await double.compileAsync(d);
    const failing = cuda.profile(async () => {
      double.launch({ threads: SIZE }, d);
      throw new RangeError('mine');
    });
    await rejects(() => failing, /mine/);
    await rejects(() => cuda.profile(undefined as never), /function/);
    const after = await cuda.profile(() => double.launch({ threads: SIZE }, d));
    sameElements(kinds(after), ['launch']);
    same((await read(d))[0], 4);
  },

  'profiles nest: each sees what happens from its beginning to its end': async () => {
    const double = makeDouble();
    const d = cuda.toDevice(new Float32Array(SIZE));
    await double.compileAsync(d);
    const outer = await cuda.profile(async () => {
      double.launch({ threads: SIZE }, d);
      const inner = await roc.profile(() => {
        double.launch({ threads: SIZE }, d);
        d.set(1);
      });
      double.launch({ threads: SIZE }, d);
      return inner;
    });
    sameElements(kinds(outer.result), ['launch', 'fill']);
    sameElements(kinds(outer), ['launch', 'launch', 'fill', 'launch']);
  },

  'recording of a graph is left alone, and its launches are seen': async () => {
    const double = makeDouble();
    const d = cuda.toDevice(new Float32Array(SIZE).fill(1));
    await double.compileAsync(d);
    const profile = await cuda.profile(() => {
      const graph = cuda.graph(() => {
        double.launch({ threads: SIZE }, d);
        double.launch({ threads: SIZE }, d);
      });
      same(graph.size, 2);
      graph.launch();
      graph.launch();
    });
    sameElements(kinds(profile), ['graph', 'graph']);
    same((await read(d))[SIZE - 1], 16);
  },

  'a trace has a named process for the host and for the device, and times of both': async () => {
    const double = makeDouble();
    const d = cuda.toDevice(new Float32Array(SIZE));
    await double.compileAsync(d);
    const profile = await cuda.profile(() => double.launch({ threads: SIZE }, d));
    const { traceEvents } = JSON.parse(JSON.stringify(profile.trace())) as ReturnType<typeof profile.trace>;
    const named = new Set(traceEvents.filter(({ name }) => name === 'process_name').map(({ pid }) => pid));
    const seen = traceEvents.filter(({ ph }) => ph === 'X');
    same(seen.length, profile.events.length + profile.events.filter(({ gpu }) => gpu !== undefined).length);
    for (const { pid, ts = 0, dur = -1 } of seen) {
      same(named.has(pid) && dur >= 0 && Number.isFinite(ts), true, 'in a named process');
      // Microseconds since the beginning of 2026.
      same(Math.abs(Date.UTC(2026, 0, 1) + ts / 1e3 - Date.now()) < 3_600_000, true, 'now');
    }
  },

  'ranges and marks of the program are seen, and streams have the names that it gives': async () => {
    const stream = cuda.stream();
    const d = cuda.toDevice(new Float32Array(SIZE), { stream });
    cuda.nvtx.nameStream(stream, 'mine');
    const profile = await cuda.profile(async () => {
      same(
        cuda.nvtx.range('fill', () => {
          d.set(1);
          return 7;
        }),
        7,
      );
      const open = cuda.nvtx.range('open');
      same(await cuda.nvtx.range('later', async () => 8), 8);
      cuda.nvtx.mark('here');
      open.end();
      open.end();
      throws(() => cuda.nvtx.range('failing', () => throwing()), /mine/);
      throws(() => cuda.nvtx.mark(1 as never), /a name/);
    });
    const names = profile.events.filter(({ kind }) => kind === 'range' || kind === 'mark').map(({ name }) => name);
    sameElements(names, ['fill', 'open', 'later', 'here', 'failing']);
    same(profile.events.find(({ kind }) => kind === 'fill')?.stream, stream.handle === undefined ? undefined : 'mine');
    same(profile.summary().ranges.length, 4);
    const ends = profile.trace().traceEvents.filter(({ ph }) => ph === 'b' || ph === 'e');
    sameElements(ends.map(({ ph, name }) => `${ph} ${name}`).sort(), ['b later', 'b open', 'e later', 'e open']);
  },
});

function throwing(): never {
  throw new Error('mine');
}
