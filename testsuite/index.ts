/**
 * `tsamba/testsuite`: the conformance suite that every driver passes, for any test framework or none, and `withFaults`, by
 * which calls of a driver fail as planned.
 */
import { absence } from './absence.ts';
import { addresses } from './addresses.ts';
import { launchArguments } from './arguments.ts';
import { arrayArithmetic } from './array-arithmetic.ts';
import { arrayChoices } from './array-choices.ts';
import { arrayMethods } from './array-methods.ts';
import { asynchronous } from './async.ts';
import { atomics } from './atomics.ts';
import { barriers } from './barriers.ts';
import { ciphers } from './ciphers.ts';
import { communicators } from './communicators.ts';
import { devices } from './devices.ts';
import { divergence } from './divergence.ts';
import { labelledSums } from './einsum.ts';
import { errors } from './errors.ts';
import { extensions } from './extensions.ts';
import { externals } from './externals.ts';
import { faults } from './faults.ts';
import { generators } from './generators.ts';
import { geometry } from './geometry.ts';
import { graphs } from './graphs.ts';
import { generalisedFunctions } from './gufuncs.ts';
import { hashes } from './hashes.ts';
import { identity } from './identity.ts';
import { inspection } from './inspection.ts';
import { kernelArrays } from './kernel-arrays.ts';
import { localArrays } from './language-arrays.ts';
import { flow } from './language-flow.ts';
import { syntax } from './language-syntax.ts';
import { values } from './language-values.ts';
import { launches } from './launch.ts';
import { maskedIndices } from './masked-indices.ts';
import { functions } from './math-functions.ts';
import { integerArithmetic } from './math-integers.ts';
import { mathParts } from './math-parts.ts';
import { rounding } from './math-rounding.ts';
import { special } from './math-special.ts';
import { matrixProducts } from './matmul.ts';
import { memoryArrays } from './memory-arrays.ts';
import { memoryHost } from './memory-host.ts';
import { memoryInterop } from './memory-interop.ts';
import { lifetime } from './memory-lifetime.ts';
import { memoryOperations } from './memory-operations.ts';
import { pendingDeallocations } from './memory-pending.ts';
import { smartArrays } from './memory-smart.ts';
import { names } from './names.ts';
import { natural } from './natural/index.ts';
import { objects } from './objects.ts';
import { options } from './options.ts';
import { parallelPrimitives } from './parallel/index.ts';
import { profiling } from './profiling.ts';
import { programs } from './programs.ts';
import { randomNumbers } from './random.ts';
import { recordNames } from './record-names.ts';
import { records } from './records.ts';
import { recursion } from './recursion.ts';
import { recursionObjects } from './recursion-objects.ts';
import { reductions } from './reduce.ts';
import { rocKernels } from './roc-kernels.ts';
import { rocMemory } from './roc-memory.ts';
import { setAndGet } from './set-get.ts';
import { sharedFlags } from './shared-flags.ts';
import { sizes } from './sizes.ts';
import { spaces } from './spaces.ts';
import { streams } from './streams.ts';
import { structs } from './structs.ts';
import { type ConformanceOptions, type ConformanceResult, type ConformanceTest, runTests } from './suite.ts';
import { bfloat16 } from './types-bfloat16.ts';
import { clampedBytes } from './types-clamped.ts';
import { complexNumbers } from './types-complex.ts';
import { dateTypes } from './types-dates.ts';
import { float8 } from './types-float8.ts';
import { halfFunctions } from './types-half-functions.ts';
import { halves } from './types-halves.ts';
import { integerTypes } from './types-integers.ts';
import { powerTests } from './types-powers.ts';
import { quotientTests } from './types-quotients.ts';
import { storage } from './types-storage.ts';
import { stringTypes } from './types-strings.ts';
import { vectorTypes } from './types-vectors.ts';
import { wideTypes } from './types-wide.ts';
import { universalFunctions } from './ufuncs.ts';
import { valueArrays } from './value-arrays.ts';
import { warps } from './warps.ts';
import { wideIndices } from './wide-indices.ts';

export { type FaultKind, type FaultPlan, withFaults } from '../src/memory/with-faults.ts';
export { ConformanceFailure } from './assert.ts';
export type { ConformanceOptions, ConformanceResult, ConformanceTest, DeviceChoice } from './suite.ts';

/** All tests, chapter by chapter. */
export const conformanceTests: readonly ConformanceTest[] = [
  ...flow,
  ...values,
  ...inspection,
  ...absence,
  ...objects,
  ...localArrays,
  ...arrayMethods,
  ...arrayChoices,
  ...syntax,
  ...names,
  ...divergence,
  ...integerTypes,
  ...powerTests,
  ...quotientTests,
  ...hashes,
  ...ciphers,
  ...vectorTypes,
  ...valueArrays,
  ...identity,
  ...addresses,
  ...recursionObjects,
  ...stringTypes,
  ...dateTypes,
  ...wideTypes,
  ...storage,
  ...clampedBytes,
  ...bfloat16,
  ...float8,
  ...halves,
  ...halfFunctions,
  ...complexNumbers,
  ...rounding,
  ...integerArithmetic,
  ...special,
  ...functions,
  ...geometry,
  ...barriers,
  ...sharedFlags,
  ...wideIndices,
  ...warps,
  ...randomNumbers,
  ...generators,
  ...graphs,
  ...profiling,
  ...reductions,
  ...communicators,
  ...parallelPrimitives,
  ...universalFunctions,
  ...matrixProducts,
  ...labelledSums,
  ...arrayArithmetic,
  ...generalisedFunctions,
  ...spaces,
  ...atomics,
  ...memoryOperations,
  ...mathParts,
  ...kernelArrays,
  ...setAndGet,
  ...externals,
  ...extensions,
  ...recursion,
  ...maskedIndices,
  ...structs,
  ...records,
  ...recordNames,
  ...launches,
  ...launchArguments,
  ...memoryArrays,
  ...lifetime,
  ...pendingDeallocations,
  ...smartArrays,
  ...memoryHost,
  ...memoryInterop,
  ...options,
  ...sizes,
  ...devices,
  ...streams,
  ...asynchronous,
  ...faults,
  ...errors,
  ...programs,
  ...natural,
  ...rocMemory,
  ...rocKernels,
];

/** Runs the suite on a device, one test after another. Resolves to the results; failures are in them and not thrown. */
export function runConformance(options: ConformanceOptions = {}): Promise<readonly ConformanceResult[]> {
  return runTests(conformanceTests, options);
}
