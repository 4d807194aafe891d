/**
 * The conformance suite on the CPU device of a runtime without an inspector. What kernels of the suite capture cannot be seen there: those
 * tests must say so (K010) and nothing else, all others must pass, and there must be many of these, of each chapter that captures nothing.
 */
import { runConformance } from 'tsamba/testsuite';

const LEAST = 450;
const WHOLE = ['geometry', 'launch', 'device arrays', 'lifetime of memory', 'streams and events', 'roc memory'];
/** A test that expects an error says in its own what came instead. */
const blind = (error) => `${error?.code} ${error?.message}`.includes('K010');

const results = await runConformance({ device: 'cpu' });
const wrong = results.filter(
  ({ error, test }) => error !== undefined && (!blind(error) || WHOLE.includes(test.chapter)),
);
const passed = results.filter(({ error }) => error === undefined).length;
for (const { test, error } of wrong) console.error(`${test.chapter}: ${test.name}\n${error?.stack ?? error}\n`);
for (const chapter of WHOLE) {
  if (!results.some(({ test }) => test.chapter === chapter)) throw new Error(`there is no chapter "${chapter}"`);
}
console.log(`CONFORMANCE ${passed} of ${results.length} passed, the others capture what cannot be seen`);
if (wrong.length > 0 || passed < LEAST) process.exitCode = 1;
