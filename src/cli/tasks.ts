/**
 * What commands have done in processes of their own, by name (`children.ts`).
 */
import { benchDevice } from './bench-device.ts';
import { describeKind } from './describe.ts';
import { inspectFile } from './inspect-file.ts';
import { runSuiteHere } from './suite.ts';
import { tryDevice } from './try-device.ts';

export const TASKS: Readonly<Record<string, (argument: never) => unknown>> = {
  describe: describeKind,
  try: tryDevice,
  inspect: inspectFile,
  suite: runSuiteHere,
  bench: benchDevice,
};
