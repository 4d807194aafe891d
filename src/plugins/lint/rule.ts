/**
 * A rule, as ESLint and oxlint run it: no package of theirs is needed for that.
 */
import { type KernelNode, kernelOf } from './kernels.ts';
import type { Node } from './tree.ts';

/** What a rule reports. */
export interface Report {
  readonly node: Node;
  readonly messageId: string;
  readonly data?: Readonly<Record<string, string>> | undefined;
}

/** What a rule is given. */
export interface RuleContext {
  readonly sourceCode: { getText(node?: Node): string };
  report(report: Report): void;
}

/** A rule. */
export interface Rule {
  readonly meta: {
    readonly type: 'problem' | 'suggestion';
    readonly docs: { readonly description: string; readonly recommended: boolean };
    readonly schema: readonly [];
    readonly messages: Readonly<Record<string, string>>;
  };
  create(context: RuleContext): { CallExpression(node: Node): void };
}

/** Makes a rule of what looks at one kernel. */
export function kernelRule(
  type: Rule['meta']['type'],
  description: string,
  messages: Readonly<Record<string, string>>,
  look: (kernel: KernelNode, context: RuleContext) => void,
): Rule {
  return {
    meta: { type, docs: { description, recommended: true }, schema: [], messages },
    create: (context) => ({
      CallExpression(node) {
        const kernel = kernelOf(node);
        if (kernel !== undefined) look(kernel, context);
      },
    }),
  };
}
