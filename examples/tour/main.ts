/**
 * The tour: what Tsamba does, on real input, in a few seconds. Run it with `npm start`.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cuda } from '../../src/index.ts';
import { spreadHeat } from './heat.ts';
import { drawMandelbrot } from './mandelbrot.ts';
import { multiply } from './matmul.ts';
import { photo } from './photo.ts';
import { readPng } from './png.ts';
import { makeReport } from './report.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const report = makeReport(process.argv[2] ?? join(process.cwd(), 'out'));
const began = performance.now();

/** A part of the tour, which is a range in traces: `TSAMBA_TRACE=trace.json npm start`. */
function chapter(title: string, body: () => void): void {
  report.chapter(title);
  cuda.nvtx.range(title.replace(/:.*/, ''), body);
}

const device = cuda.currentDevice();
console.log(`Tsamba on ${device.name} (${device.kind})`);
if (device.fallbackReason !== undefined) report.say(`no GPU is used: ${device.fallbackReason}`);

chapter('A photograph: separable blur and Sobel edges, with tiles in shared memory', () =>
  photo(report, readPng(join(here, 'coffee.png'))),
);

chapter('The Mandelbrot set: a loop that every thread leaves at its own time', () => drawMandelbrot(report));

chapter('Matrix multiplication with shared-memory tiles', () => multiply(report));

chapter('The heat equation: hundreds of launches, nothing copied in between', () => spreadHeat(report));

const { copies, peak } = cuda.memoryStats();
const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
report.chapter('Transfers');
report.say(`host to device: ${copies.hostToDevice.count} copies, ${mib(copies.hostToDevice.bytes)}`);
report.say(`device to host: ${copies.deviceToHost.count} copies, ${mib(copies.deviceToHost.bytes)}`);
report.say(`device memory: ${mib(peak)} at most, ${mib(cuda.memoryStats().live)} left in use`);
console.log(`\nDone in ${((performance.now() - began) / 1000).toFixed(1)} s.`);
