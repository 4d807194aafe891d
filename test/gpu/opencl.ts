/**
 * The conformance suite on an OpenCL device, for hosts that have nothing but Node.js: `node test-opencl.mjs [FILTER]`. Which device is
 * `TSAMBA_OPENCL_DEVICE`'s to say. Prints failures and a summary; exit code 1 when there are failures.
 */
Object.assign(process.env, { TSAMBA_DEVICE: 'cpu', TSAMBA_ROC_DRIVER: 'opencl', TSAMBA_WARN_IMPLICIT_COPY: '0' });
const { openOpenCL } = await import('../../src/driver/opencl/index.ts');
const { Context } = await import('../../src/memory/context.ts');
const { activateContext } = await import('../../src/memory/devices.ts');
const { runConformance } = await import('../../src/testsuite/index.ts');

const context = new Context(openOpenCL(0));
activateContext(context);
console.log(`${context.info.name}, ${context.info.driverVersion}`);

/** The first lines of what went wrong. */
function said(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n').slice(0, 6).join('\n    ').slice(0, 600);
}

const started = performance.now();
let [count, failed] = [0, 0];
await runConformance({
  filter: process.argv[2],
  onResult({ test, error }) {
    count++;
    if (error === undefined) return;
    failed++;
    console.log(`failed: ${test.chapter}: ${test.name}\n    ${said(error)}`);
  },
});
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`${count} tests, ${failed} failed, ${seconds} s`);
process.exitCode = failed === 0 ? 0 : 1;
