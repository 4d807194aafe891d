/**
 * The conformance suite as a program of Deno, which has no inspector: bundled with the plugin (deno.ts), so that kernels say themselves what they capture. Prints
 * the name of each test before it, and what became of all as JSON.
 */
import { cuda, roc } from '../../src/index.ts';
import { conformanceTests } from '../../testsuite/index.ts';
import type { DenoResult, DenoRun } from './deno.ts';
import { lackingIn } from './lacking.ts';

const run = JSON.parse(process.argv[2] ?? '') as DenoRun;
if (run.waits) {
  cuda.selectDevice('webgpu');
} else {
  await cuda.open('webgpu');
  await roc.open('webgpu');
}
const waits = cuda.currentContext().info.features.hostCanWait;
if (waits !== run.waits) throw new Error(`the thread ${waits ? 'may' : 'cannot'} wait for the device`);
const failed: string[] = [];
let [passed, blind, lacking] = [0, 0, 0];
for (const test of conformanceTests) {
  const name = `${test.chapter}: ${test.name}`;
  if (run.chapters !== undefined && !run.chapters.includes(test.chapter)) continue;
  if ((test.blocks && !waits) || run.without.includes(name)) continue;
  const start = performance.now();
  console.log(`@${name}`);
  try {
    await test.run();
    if (waits) cuda.synchronize();
    else await cuda.synchronizeAsync();
    passed++;
  } catch (error) {
    const { code, message, stack } = error as Error & { readonly code?: unknown };
    if (lackingIn(error, run.lacks) !== undefined) lacking++;
    else if (`${code} ${message}`.includes('K010')) blind++;
    else failed.push(`${name}: ${code} ${String(stack ?? error).slice(0, 1500)}`);
  }
  const seconds = (performance.now() - start) / 1000;
  if (seconds > 3) console.log(`took ${seconds.toFixed(1)} s`);
}
const result: DenoResult = { name: cuda.currentDevice().name, passed, blind, lacking, failed };
console.log(`RESULT ${JSON.stringify(result)}`);
