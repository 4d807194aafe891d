/**
 * In the process of its own: runs the conformance suite of the package, test by test, and tells of each.
 */
import { nodeModule } from '../host/index.ts';
import type { cuda as Cuda, roc as Roc } from '../index.ts';
import { tell } from './children.ts';
import { packageFolder } from './package.ts';
import type { SuiteNews, SuiteRun, TestRow } from './test.ts';

/** What is used of a test of the suite, which lies above this in the house. */
interface SuiteTest {
  readonly chapter: string;
  readonly name: string;
  /** It is about calls that wait. */
  readonly blocks: boolean;
  run(): Promise<void>;
}

/** Runs the tests from `skip` on. */
export async function runSuiteHere({ device, filter = '', skip }: SuiteRun): Promise<null> {
  process.env['TSAMBA_WARN_IMPLICIT_COPY'] ??= '0';
  // The package's own files: the suite tests the library that programs import, not the one that is in this command.
  const { cuda, roc } = (await packageModule('index.js')) as { readonly cuda: typeof Cuda; readonly roc: typeof Roc };
  const { conformanceTests } = (await packageModule('testsuite/index.js')) as {
    readonly conformanceTests: readonly SuiteTest[];
  };
  const taken = device === undefined ? cuda.currentDevice() : await cuda.open(device);
  await roc.open(taken.kind, taken.index);
  const canWait = cuda.currentContext().info.features.hostCanWait;
  const settled = async (): Promise<void> => (canWait ? cuda.synchronize() : cuda.synchronizeAsync());
  const chosen = conformanceTests.filter(
    ({ chapter, name, blocks }) => `${chapter}: ${name}`.includes(filter) && (canWait || !blocks),
  );
  send({ device: `${taken.name} (${taken.kind} ${taken.index})`, count: chosen.length });
  for (const test of chosen.slice(skip)) {
    send({ begun: { chapter: test.chapter, name: test.name } });
    send({ ended: await outcomeOf(test, settled) });
  }
  return null;
}

async function outcomeOf({ chapter, name, run }: SuiteTest, settled: () => Promise<void>): Promise<TestRow> {
  const start = performance.now();
  let failure: Pick<TestRow, 'error' | 'refused'> = {};
  try {
    await run();
    await settled();
  } catch (error) {
    failure = failureOf(error);
  }
  return { chapter, name, milliseconds: Math.round(performance.now() - start), ...failure };
}

/** What went wrong; a device that says that it cannot do something has not failed, nor has a runtime in which captured values cannot be seen. */
function failureOf(error: unknown): Pick<TestRow, 'error' | 'refused'> {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'NotSupportedError') return { refused: cause.message };
    if (cause.message.includes('K010') && cause.message.includes('cannot be seen here')) {
      return { refused: 'the kernel captures a value, which cannot be read in this runtime' };
    }
  }
  return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

function packageModule(file: string): Promise<unknown> {
  const path = nodeModule('node:path').join(packageFolder(), 'dist', file);
  return import(nodeModule('node:url').pathToFileURL(path).href);
}

function send(news: SuiteNews): void {
  tell(news);
}
