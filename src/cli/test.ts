/**
 * `tsamba test`: the conformance suite on a device of this machine, and a report to attach to an issue.
 *
 * The suite runs in processes of its own. Where one crashes, the test that it was at has failed, and the next process goes on behind it.
 */
import { type DeviceKind, KIND_NAMES } from '../driver/driver.ts';
import { nodeModule } from '../host/index.ts';
import { inChild, type Outcome } from './children.ts';
import { type Command, defineCommand, EXIT, oneOf } from './command-line.ts';
import { makeReport, reportText } from './info.ts';

/** What the child is asked. */
export interface SuiteRun {
  readonly device: DeviceKind | undefined;
  readonly filter: string | undefined;
  /** How many tests come before the first one to run: processes before this one ran those. */
  readonly skip: number;
}

/** One test, as the report has it. */
export interface TestRow {
  readonly chapter: string;
  readonly name: string;
  readonly milliseconds: number;
  readonly error?: string | undefined;
  /** The device has said that it cannot do this. */
  readonly refused?: string | undefined;
}

/** What the child tells on the way. */
export type SuiteNews =
  | { readonly device: string; readonly count: number }
  | { readonly begun: Pick<TestRow, 'chapter' | 'name'> }
  | { readonly ended: TestRow };

/** For a whole process: compilers of some devices take minutes for the suite. */
const TIMEOUT = 7_200_000;
/** Crashes after which nothing more is to be learnt. */
const MOST_CRASHES = 20;

/** What became of a run. */
interface Results {
  device: string;
  count: number;
  readonly tests: TestRow[];
}

export const test: Command = defineCommand({
  name: 'test',
  usage: '[--device kind] [--filter text] [--output file] [--json]',
  summary: 'runs the conformance suite on a device and writes a report to attach to an issue',
  options: {
    device: { value: KIND_NAMES.join('|'), help: 'the device; default: the one that cuda would use' },
    filter: { value: 'text', help: "only tests whose 'chapter: name' contains it" },
    output: { value: 'file', help: 'also writes the report to a file' },
    json: { help: 'prints the report as JSON' },
  },
  notes:
    'Exit code 0: all tests pass. 1: one fails, or none can run. The suite takes half a minute on the CPU device, minutes on others.',
  async run({ options }) {
    const asked = options.get('device');
    const device = asked === undefined ? undefined : oneOf('--device', asked, KIND_NAMES);
    const run = { device, filter: options.get('filter') };
    const isJson = options.has('json');
    const { results, problem } = await runSuite(run, !isJson && process.stderr.isTTY);
    const report = { ...(await makeReport()), suite: { ...run, ...results, problem } };
    const text = isJson
      ? JSON.stringify(report, undefined, 2)
      : `${reportText(report)}\n\n${suiteText(results, problem)}`;
    console.log(text);
    const file = options.get('output');
    if (file !== undefined) nodeModule('node:fs').writeFileSync(file, `${text}\n`);
    const passed = problem === undefined && results.tests.every(({ error }) => error === undefined);
    return passed ? EXIT.ok : EXIT.failed;
  },
});

async function runSuite(
  run: Omit<SuiteRun, 'skip'>,
  showsProgress: boolean,
): Promise<{ readonly results: Results; readonly problem?: string | undefined }> {
  const results: Results = { device: '', count: 0, tests: [] };
  for (let crashes = 0; crashes < MOST_CRASHES; crashes++) {
    let begun: Pick<TestRow, 'chapter' | 'name'> | undefined;
    const onTold = (told: unknown): void => {
      const news = told as SuiteNews;
      if ('count' in news) Object.assign(results, news);
      else if ('begun' in news) begun = news.begun;
      else {
        begun = undefined;
        results.tests.push(news.ended);
        if (showsProgress) process.stderr.write(`\r${results.tests.length} of ${results.count}`);
      }
    };
    const skip = results.tests.length;
    const outcome: Outcome<null> = await inChild('suite', { ...run, skip }, { timeout: TIMEOUT, onTold });
    if (outcome.problem === undefined) {
      return results.count === 0 ? { results, problem: `no test's name contains ${run.filter}` } : { results };
    }
    // Where it did not even begin, it will not begin the next time.
    if (begun === undefined) return { results, problem: `${outcome.problem}\n${outcome.said}`.trim() };
    results.tests.push({ ...begun, milliseconds: 0, error: `${outcome.problem}\n${outcome.said}`.trim() });
  }
  return { results, problem: `given up after ${MOST_CRASHES} crashes` };
}

function suiteText({ device, count, tests }: Results, problem: string | undefined): string {
  const failed = tests.filter(({ error }) => error !== undefined);
  const lines = [`Conformance suite on ${device === '' ? 'no device' : device}`];
  for (const { chapter, name, error = '' } of failed)
    lines.push(`FAIL ${chapter}: ${name}\n       ${error.replaceAll('\n', '\n       ')}`);
  const refused = tests.filter((row) => row.refused !== undefined).length;
  const passed = tests.length - failed.length - refused;
  lines.push(
    `${passed} passed, ${failed.length} failed, ${refused} refused by the device or the runtime, ${count - tests.length} not run`,
  );
  if (problem !== undefined) lines.push(problem);
  return lines.join('\n');
}
