/**
 * For tests: reports of faults as compiled code makes them, for kernels that a test writes by hand.
 */
import { FAULT, FAULTS } from '../compiler/render/reports.ts';

/** Thread 5 of block 1 fails at the first site, unless another thread of the launch has. `table`: the module's. */
export function reportFault(table: DataView, launch: number): void {
  const record = FAULTS.records + (launch % FAULTS.most) * FAULT.bytes;
  if (table.getUint32(record + FAULT.launch, true) === launch) return;
  table.setUint32(record + FAULT.launch, launch, true);
  table.setUint32(FAULTS.count, table.getUint32(FAULTS.count, true) + 1, true);
  table.setUint32(record + FAULT.site, 0, true);
  table.setUint32(record + FAULT.thread, 5, true);
  table.setBigUint64(record + FAULT.block, 1n, true);
}

/** In OpenCL C, with `global uint *faults` and `uint launch`: the first site, no thread or block. */
export const REPORT_FAULT: string = `{
    global uint *record = faults + ${FAULTS.records / 4} + (launch & ${FAULTS.most - 1}) * ${FAULT.bytes / 4};
    if (atomic_xchg(record + ${FAULT.launch / 4}, launch) != launch) atomic_inc(faults + ${FAULTS.count / 4});
  }`;
