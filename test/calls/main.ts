/**
 * `npm run test:calls`: every public function with fifty odd values in each argument position. Prints the number of calls and the findings.
 *
 *     npm run test:calls -- --part 20 --seed 3     # one call in twenty, those that the seed says
 *     npm run test:calls -- --only cuda.toDevice   # calls of that name
 */
import { type Finding, runCalls } from './run.ts';

const option = (name: string): string | undefined => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const start = performance.now();
const { calls, functions, findings } = await runCalls({
  part: Number(option('part') ?? 1),
  seed: Number(option('seed') ?? 0),
});
const classes = new Map<string, Finding[]>();
for (const finding of findings) {
  const list = classes.get(finding.what) ?? [];
  classes.set(finding.what, list);
  list.push(finding);
}
for (const [what, list] of [...classes].sort(([, a], [, b]) => b.length - a.length)) {
  console.log(`${list.length} × ${what}`);
  for (const { name } of list.slice(0, Number(option('show') ?? 3))) console.log(`    ${name}`);
}
const seconds = Math.round((performance.now() - start) / 1000);
console.log(
  `${calls} calls of ${functions} functions in ${seconds} s: ${findings.length} findings of ${classes.size} kinds`,
);
process.exitCode = findings.length > 0 ? 1 : 0;
