/**
 * `disassembly.ts` of pages, which is loaded when it is called.
 */
import { onDemand, type Part } from '../../on-demand.ts';

type Disassembling = typeof import('./disassemble.ts');

const part: Part<Disassembling> = /* @__PURE__ */ onDemand(() => import('./disassemble.ts'));

export const disassemble: Disassembling['disassemble'] = (bytes) => part.now().disassemble(bytes);
