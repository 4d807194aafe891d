/**
 * Streams of a device that works on its own: what blocks and what does not, what waits for what, and what waiting costs.
 */
import { median } from '../../bench/statistics.ts';
import { cuda, i32, scope, type Vec } from '../../src/index.ts';
import { same, sameElements } from '../../testsuite/assert.ts';
import type { GpuModule } from './suite.ts';

/** A kernel of one thread that takes about as many milliseconds as it is told. */
const spin = cuda.jit((y: Vec<i32>, rounds: number) => {
  let s = y[0] as number;
  for (let i = 0; i < rounds; i++) s = (Math.imul(s, 1664525) + 1013904223) | 0;
  y[0] = s;
  y[1] = 7;
});

let perMillisecond = 0;

/** Rounds of `spin` for so many milliseconds on this device. */
function roundsFor(milliseconds: number): number {
  if (perMillisecond === 0) {
    const y = cuda.toDevice(Int32Array.of(1, 0));
    const rounds = 2_000_000;
    const [start, end] = [cuda.event(), cuda.event()];
    for (let k = 0; k < 2; k++) {
      start.record();
      spin.launch({ grid: 1, block: 1 }, y, cuda.scalar(i32, rounds));
      end.record();
      end.synchronize();
    }
    perMillisecond = rounds / start.elapsedTime(end);
    for (const each of [y, start, end]) each.dispose();
  }
  return Math.round(perMillisecond * milliseconds);
}

/** How many milliseconds a call takes. */
function took(body: () => void): number {
  const start = performance.now();
  body();
  return performance.now() - start;
}

function shorter(milliseconds: number, limit: number, what: string): void {
  same(milliseconds < limit, true, `${what} takes ${milliseconds.toFixed(2)} ms, less than ${limit}`);
}

export const streamTests: GpuModule = {
  chapter: 'nvidia streams',
  tests: [
    {
      name: 'done() of short work comes in microseconds',
      run: async () => {
        const stream = cuda.stream();
        const y = cuda.toDevice(Int32Array.of(1, 0));
        const times: number[] = [];
        for (let k = 0; k < 300; k++) {
          const start = performance.now();
          spin.launch({ grid: 1, block: 1, stream }, y, cuda.scalar(i32, 1));
          await stream.done();
          times.push((performance.now() - start) * 1000);
        }
        stream.dispose();
        y.dispose();
        const typical = median(times.slice(50));
        same(typical < 100, true, `launch and done() of ${typical.toFixed(1)} µs are less than 100`);
        return `launch and await done(): ${typical.toFixed(1)} µs`;
      },
    },
    {
      name: 'done() of long work leaves the processor and the event loop alone, and is not late',
      run: async () => {
        const stream = cuda.stream();
        const y = cuda.toDevice(Int32Array.of(1, 0));
        const [start, end] = [cuda.event(), cuda.event()];
        const rounds = roundsFor(400);
        let [busy, worked, waited, ticks] = [1, 0, 0, 0];
        // The engine's own threads count as well, when they compile or collect: the quietest of three.
        for (let k = 0; k < 3; k++) {
          let heard = 0;
          const timer = setInterval(() => heard++, 5);
          const before = process.cpuUsage();
          const begin = performance.now();
          start.record(stream);
          spin.launch({ grid: 1, block: 1, stream }, y, cuda.scalar(i32, rounds));
          end.record(stream);
          await stream.done();
          const took = performance.now() - begin;
          const { user, system } = process.cpuUsage(before);
          clearInterval(timer);
          const share = (user + system) / 1000 / took;
          if (share < busy) [busy, worked, waited, ticks] = [share, start.elapsedTime(end), took, heard];
        }
        for (const each of [stream, y, start, end]) each.dispose();
        same(busy < 0.25, true, `${(100 * busy).toFixed(1)} % of a core`);
        same(ticks > 30, true, `${ticks} ticks`);
        shorter(waited - worked, 25, 'hearing of the end');
        return `${worked.toFixed(0)} ms of work: heard ${(waited - worked).toFixed(2)} ms later, ${(100 * busy).toFixed(1)} % of a core`;
      },
    },
    {
      name: 'disposing streams and memory blocks nobody, and the work goes on',
      run: () => {
        const context = cuda.currentContext();
        const rounds = roundsFor(200);
        const stream = cuda.stream();
        const y = cuda.toDevice(Int32Array.of(1, 0));
        const result = cuda.toDevice(Int32Array.of(0, 0));
        const view = y.slice('1:');
        cuda.synchronize();
        // Kernels that were dropped before: CUDA waits for the device before it unloads their code.
        const dropped = context.resourceDeallocations.length;
        context.resourceDeallocations.clear();
        const time = took(() => {
          spin.launch({ grid: 1, block: 1, stream }, y, cuda.scalar(i32, rounds));
          result.slice('1:').copyToDevice(view, { stream });
          view.dispose();
          y.dispose();
          stream.dispose();
          context.resourceDeallocations.clear();
          context.deallocations.clear();
          for (let k = 0; k < 50; k++) cuda.deviceArray(1000, i32).dispose();
        });
        same(stream.destroyed, true);
        const rest = took(() => cuda.synchronize());
        sameElements(result.copyToHost(), [0, 7]);
        result.dispose();
        shorter(time, 100, 'all that disposing');
        return `disposing: ${time.toFixed(2)} ms, the work: ${rest.toFixed(0)} ms more; ${dropped} dropped before`;
      },
    },
    {
      name: 'allocating and freeing do not make streams wait for each other',
      run: () =>
        scope(() => {
          const rounds = roundsFor(60);
          const streams = [cuda.stream(), cuda.stream(), cuda.stream()];
          const arrays = streams.map((stream) => cuda.toDevice(Int32Array.of(1, 0), { stream }));
          const run = (between: () => void): number => {
            cuda.synchronize();
            return took(() => {
              for (const [k, stream] of streams.entries()) {
                between();
                spin.launch({ grid: 1, block: 1, stream }, arrays[k] as never, cuda.scalar(i32, rounds));
                between();
              }
              cuda.synchronize();
            });
          };
          run(() => undefined);
          const alone = run(() => undefined);
          const withArrays = run(() => cuda.deviceArray(4096, i32).dispose());
          const bound = run(() => {
            for (const stream of streams) cuda.deviceArray(4096, i32, { stream }).dispose();
          });
          const note = `three streams: ${alone.toFixed(0)} ms, with arrays made between: ${withArrays.toFixed(0)} ms, bound to the streams: ${bound.toFixed(0)} ms`;
          same(alone < 120, true, `the streams work at the same time: ${note}`);
          same(withArrays < 1.6 * alone && bound < 1.6 * alone, true, note);
          return note;
        }),
    },
    {
      name: 'the device’s own streams and those that other libraries know',
      run: () =>
        scope(() => {
          const rounds = roundsFor(20);
          const created = cuda.stream();
          same(typeof created.pointer, 'bigint', 'its address');
          const kinds = [
            cuda.defaultStream(),
            cuda.legacyDefaultStream(),
            cuda.perThreadDefaultStream(),
            cuda.externalStream(created.pointer as bigint),
            cuda.externalStream(0),
          ];
          for (const stream of kinds) {
            const y = cuda.toDevice(Int32Array.of(1, 0));
            const host = new Int32Array(2);
            spin.launch({ grid: 1, block: 1, stream }, y, cuda.scalar(i32, rounds));
            same(stream.query(), false, `${stream} works late`);
            y.copyToHost(host, { stream });
            stream.synchronize();
            same(host[1], 7, String(stream));
            same(stream.query(), true);
            stream.dispose();
            y.dispose();
          }
        }),
    },
    {
      name: 'callbacks do not deadlock with a host that blocks',
      run: async () => {
        const stream = cuda.stream();
        const y = cuda.toDevice(Int32Array.of(1, 0));
        const told: number[] = [];
        for (let k = 0; k < 20; k++) {
          spin.launch({ grid: 1, block: 1, stream }, y, cuda.scalar(i32, roundsFor(1)));
          stream.addCallback(() => told.push(k));
        }
        stream.synchronize();
        cuda.synchronize();
        same(told.length, 0, 'callbacks inside synchronize');
        await stream.done();
        sameElements(
          told,
          Array.from({ length: 20 }, (_, k) => k),
        );
        stream.dispose();
        y.dispose();
      },
    },
    {
      name: 'launches and arrays cost microseconds',
      run: () =>
        scope(() => {
          const saxpy = cuda.jit((y: Vec<i32>, a: Vec<i32>, b: Vec<i32>, k: number) => {
            const i = cuda.grid(1);
            if (i < y.length) y[i] = (k | 0) * (a[i] as number) + (b[i] as number);
          });
          const [y, a, b] = [0, 1, 2].map(() => cuda.toDevice(new Int32Array(1024)));
          const each = (count: number, body: () => void): number => {
            const times = Array.from({ length: 7 }, () => {
              const time = took(() => {
                for (let k = 0; k < count; k++) body();
              });
              cuda.synchronize();
              return (time / count) * 1000;
            });
            return median(times);
          };
          if (y === undefined || a === undefined || b === undefined) return;
          const launch = each(2000, () => saxpy.launch({ grid: 4, block: 256 }, y, a, b, 2));
          const forAll = each(2000, () => saxpy.forAll(1024)(y, a, b, 2));
          const array = each(5000, () => cuda.deviceArray(1024, i32).dispose());
          const { driver } = cuda.currentContext();
          const raw = each(5000, () => driver.free(driver.allocate(4096)));
          return `launch ${launch.toFixed(2)} µs, forAll ${forAll.toFixed(2)} µs, deviceArray + dispose ${array.toFixed(2)} µs (driver ${raw.toFixed(2)})`;
        }),
    },
    {
      name: 'forAll takes a block that the kernel can run',
      run: () =>
        scope(() => {
          const heavy = cuda.jit(
            (y: Vec<i32>) => {
              const i = cuda.grid(1);
              if (i < y.length) y[i] = i + 1;
            },
            { launchBounds: 96 },
          );
          const y = cuda.deviceArray(100_000, i32);
          heavy.forAll(100_000)(y);
          sameElements(
            y.slice('99990:').copyToHost(),
            Array.from({ length: 10 }, (_, k) => 99991 + k),
          );
          same(heavy.attributes().maxThreadsPerBlock <= 96, true, 'launch bounds');
          return JSON.stringify(heavy.attributes());
        }),
    },
  ],
};
