/**
 * One process of the kernel benchmark on Tsamba's side: checks each case, warms up, and times launches with events; JSON on the
 * last line. The peers do the same: `--runs 50 --scale 1 saxpy:24 matmul:3 …`, names with launches between two events.
 */
import { cuda, ndarray } from 'tsamba';
import { SETUPS } from './cases.ts';
import type { SideOutput } from './spec.ts';

const SAMPLES = 256;

/** Sum and samples of each output. */
function check(outputs: readonly { copyToHost(): unknown }[]): number[] {
  return outputs.flatMap((output) => {
    const host = ndarray(output.copyToHost() as Float32Array).ravel().data as ArrayLike<number>;
    let sum = 0;
    for (let k = 0; k < host.length; k++) sum += host[k];
    const samples = Array.from({ length: SAMPLES }, (_, j) => host[(Math.imul(j, 2654435761) >>> 0) % host.length]);
    return [sum, ...samples];
  });
}

/** Milliseconds a launch, of each run. */
export function timeLaunches(launch: () => void, launches: number, runs: number): number[] {
  const [start, end] = [cuda.event({ timing: true }), cuda.event({ timing: true })];
  const times: number[] = [];
  for (let k = -3; k < runs; k++) {
    start.record();
    for (let j = 0; j < launches; j++) launch();
    end.record();
    end.synchronize();
    if (k >= 0) times.push(start.elapsedTime(end) / launches);
  }
  start.dispose();
  end.dispose();
  return times;
}

export function kernelsWorker(args: readonly string[]): void {
  const option = (name: string, otherwise: number): number => {
    const at = args.indexOf(`--${name}`);
    return at < 0 ? otherwise : Number(args[at + 1]);
  };
  const [runs, scale] = [option('runs', 50), option('scale', 1)];
  const results: Record<string, { ms: number[]; check: number[] }> = {};
  const failed: Record<string, string> = {};
  for (const arg of args.filter((a) => a.includes(':'))) {
    const [name, launches] = arg.split(':');
    try {
      const contestant = SETUPS[name](scale);
      contestant.launch();
      cuda.synchronize();
      const numbers = check(contestant.outputs);
      results[name] = { check: numbers, ms: timeLaunches(contestant.launch, Number(launches), runs) };
      for (const array of contestant.arrays) array.dispose();
    } catch (error) {
      failed[name] = error instanceof Error ? error.message : String(error);
    }
  }
  const device = cuda.currentDevice();
  console.log(
    JSON.stringify({ results, failed, versions: { node: process.version, device: device.name } } satisfies SideOutput),
  );
}
