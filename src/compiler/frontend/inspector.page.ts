/**
 * The inspector of pages, which have none.
 */
import { isPage } from '../../host/index.ts';
import type { InspectedFunction, ScriptInfo } from './inspector.ts';

export type { ClosureScope, InspectedFunction, ScriptInfo, ScriptLocation } from './inspector.ts';

export function inspectorProblem(): string | undefined {
  return `${isPage() ? 'in a page' : 'here'} there is no node:inspector`;
}

export function inspectFunction(_: (...args: never[]) => unknown): InspectedFunction | undefined {
  return undefined;
}

export function inspectScript(_: string): ScriptInfo | undefined {
  return undefined;
}
