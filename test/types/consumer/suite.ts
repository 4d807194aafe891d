/**
 * The conformance suite's declarations stand alone: a file that imports nothing else. Compiled, never run.
 */
import { type ConformanceResult, conformanceTests, runConformance } from 'tsamba/testsuite';

export const names: readonly string[] = conformanceTests.map(({ name }) => name);
export const results: Promise<readonly ConformanceResult[]> = runConformance();
