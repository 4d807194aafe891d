/**
 * What a kernel asks for and WebGPU does not have, with the place and what to do instead.
 */
import { NotSupportedError } from '../../../errors.ts';
import { displayPath } from '../../frontend/diagnostics.ts';
import { describe } from '../../frontend/positions.ts';
import type { Kernel } from '../../ir/ops.ts';
import type { Pos } from '../../source.ts';

export function refuseAt({ name }: Kernel, pos: Pos, code: string, what: string, help: string): never {
  const { file, line, column } = describe(pos);
  const place = `${file === undefined ? pos.source.name : displayPath(file)}:${line}:${column}`;
  throw new NotSupportedError(code, `kernel ${name} ${what}\n  --> ${place}\n  help: ${help}`);
}
