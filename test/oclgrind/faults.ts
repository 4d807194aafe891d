/**
 * A process under Oclgrind: runs one kernel that is right, or one with a fault that was put into it, so that it can be seen that
 * Oclgrind finds such faults in the code that Tsamba writes.
 *
 *   node --import tsx test/oclgrind/faults.ts <none | race | divergence | store | load>
 */

import { type OpenCLPipeline, openclPipeline } from '../../src/driver/opencl/compile.ts';
import { openOpenCL } from '../../src/driver/opencl/index.ts';
import { cuda, type i32, type Vec } from '../../src/index.ts';
import { Context } from '../../src/memory/context.ts';
import { cudaDevices } from '../../src/memory/devices.ts';

const BARRIER = 'barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);';

/** What happens to the text of the kernel. */
const MUTATIONS: Readonly<Record<string, (text: string) => string>> = {
  none: (text) => text,
  race: (text) => text.replace(BARRIER, ''),
  divergence: (text) => text.replace(BARRIER, `if (get_local_id(0) < 3) ${BARRIER}`),
  store: (text) => text,
  load: (text) => text,
};
const fault = process.argv[2] ?? '';
const mutate = MUTATIONS[fault];
if (mutate === undefined) throw new Error(`there is no fault '${fault}'`);

const pipeline: OpenCLPipeline = {
  compile(kernel, target, options) {
    const module = openclPipeline.compile(kernel, target, options);
    const text = mutate(module.text);
    if (text === module.text && (fault === 'race' || fault === 'divergence')) throw new Error('there is no barrier');
    return { ...module, text };
  },
};
cudaDevices.enter(new Context(openOpenCL(0, { pipeline })));

/** Turns each block around; reads and stores `inShift` and `outShift` elements further on. */
const reverse = cuda.jit(
  (x: Vec<i32>, out: Vec<i32>, inShift: number, outShift: number) => {
    const s = cuda.shared.array(8, 'int32');
    const t = cuda.threadIdx.x;
    s[t] = x[cuda.grid(1) + inShift];
    cuda.syncThreads();
    out[cuda.grid(1) + outShift] = s[7 - t];
  },
  { boundsCheck: false },
);
const [x, out] = [cuda.toDevice(Int32Array.from({ length: 16 }, (_, k) => k)), cuda.deviceArray(16, 'int32')];
reverse.launch({ grid: 2, block: 8 }, x, out, fault === 'load' ? 1 : 0, fault === 'store' ? 1 : 0);
process.stdout.write(JSON.stringify(Array.from(out.copyToHost())));
