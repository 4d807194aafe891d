/**
 * A process under Oclgrind: runs chapters of the conformance suite on its device, and prints what failed, as JSON. Before each test
 * its name goes to stderr, where Oclgrind writes too, so that what it says can be told apart.
 *
 *   node --import tsx test/oclgrind/suite.ts 'barriers,atomics'
 */
import { cuda, roc } from '../../src/index.ts';
import { conformanceTests } from '../../testsuite/index.ts';
import { TEST_MARK } from './mark.ts';

const chapters = process.argv[2]?.split(',') ?? [];
const except = process.argv[3]?.split(';') ?? [];
cuda.selectDevice('opencl');
roc.selectDevice('opencl');

let count = 0;
const failed: string[] = [];
for (const test of conformanceTests) {
  const name = `${test.chapter}: ${test.name}`;
  if (!chapters.includes(test.chapter) || except.includes(name)) continue;
  process.stderr.write(`${TEST_MARK}${name}\n`);
  count++;
  try {
    await test.run();
    cuda.synchronize();
  } catch (error) {
    failed.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
process.stdout.write(JSON.stringify({ device: cuda.currentDevice().name, count, failed }));
