/**
 * A rule, as ESLint and oxlint run it: no package of theirs is needed for that.
 */
import { type KernelNode, kernelOf } from './kernels.ts';
import type { Node } from './tree.ts';

/** What a rule reports. */
export interface Report {
  /** The node that it is about. */
  readonly node: Node;
  /** Which of the rule's messages. */
  readonly messageId: string;
  /** What to put into the message. */
  readonly data?: Readonly<Record<string, string>> | undefined;
}

/** What a rule is given. */
export interface RuleContext {
  /** The text of the file. */
  readonly sourceCode: { getText(node?: Node): string };
  /** Reports a problem. */
  report(report: Report): void;
}

/** A rule. */
export interface Rule {
  /** What the rule is, for ESLint. */
  readonly meta: {
    /** A problem, or a suggestion. */
    readonly type: 'problem' | 'suggestion';
    /** What the rule says of itself. */
    readonly docs: { readonly description: string; readonly recommended: boolean };
    /** The rule takes no options. */
    readonly schema: readonly [];
    /** The messages, by name. */
    readonly messages: Readonly<Record<string, string>>;
  };
  /** Called by ESLint for each file: gives the functions that are called for its nodes. */
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
