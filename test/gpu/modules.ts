/**
 * The modules of tests that only a GPU can run. Add yours here, one import and one entry each; `suite.ts` says what they look like.
 */
import { communicatorTests } from './communicators.ts';
import { copyTests } from './copies.ts';
import { deterministic } from './deterministic.ts';
import { deviceTests } from './devices.ts';
import { driverTests } from './driver.ts';
import { endurance } from './endurance.ts';
import { faultTests } from './faults.ts';
import { hostMemory } from './host-memory.ts';
import { interop } from './interop.ts';
import { peerTests } from './peers.ts';
import { rendererTests } from './renderer.ts';
import { runnerSelfTest } from './runner-self-test.ts';
import { sanitizerControl } from './sanitizer-control.ts';
import { streamTests } from './streams.ts';
import type { GpuModule } from './suite.ts';
import { tour } from './tour.ts';

export const modules: readonly GpuModule[] = [
  driverTests,
  rendererTests,
  deviceTests,
  streamTests,
  copyTests,
  faultTests,
  peerTests,
  communicatorTests,
  hostMemory,
  interop,
  endurance,
  deterministic,
  tour,
  runnerSelfTest,
  sanitizerControl,
];
