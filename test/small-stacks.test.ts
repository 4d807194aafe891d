/**
 * Worker threads with little stack: what is written by hand compiles, and deep expressions are refused as kernels, as elsewhere; no error of
 * the engine comes through.
 */
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { bundled } from './support/program.ts';

const library = bundled('src/index.ts')('index.ts');

/** What a worker says that adds up so many elements in one expression. */
const program = `
  const { parentPort, workerData: { library, device, terms } } = require('node:worker_threads');
  import(library).then(({ cuda }) => {
    cuda.selectDevice(device);
    const sum = Array.from({ length: terms }, (_, k) => 'x[' + (k % 4) + ']').join(' + ');
    const x = cuda.toDevice(Int32Array.of(1, 2, 3, 4));
    try {
      cuda.jit(new Function('x', 'x[0] = ' + sum)).launch({ grid: 1, block: 1 }, x);
      parentPort.postMessage(x.get(0));
    } catch (error) {
      parentPort.postMessage(error.name + ' ' + error.code);
    }
    cuda.close();
  });`;

function outcome(device: string, stackSizeMb: number, terms: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const workerData = { library, device, terms };
    const worker = new Worker(program, { eval: true, workerData, resourceLimits: { stackSizeMb } });
    worker.on('message', resolve);
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`the worker ended with ${code}`)));
  });
}

// Below 0.3 MB Node.js 20 cannot load a module.
it.each([
  ['cpu', 0.4],
  ['cpu', 1],
  ['simulator', 0.4],
])('a worker on the %s, with a stack of %d MB', async (device, megabytes) => {
  expect(await outcome(device, megabytes, 40)).toBe(100);
  expect(['KernelError K104', 500]).toContain(await outcome(device, megabytes, 200));
  expect(await outcome(device, megabytes, 4000)).toBe('KernelError K104');
});
