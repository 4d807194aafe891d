/**
 * `tsamba/eslint`: rules for kernels, as a plugin of ESLint 9 and of whatever else takes its plugins. It needs no package beside this one.
 */
import { accidentalF64 } from './lint/accidental-f64.ts';
import { divergentBarrier } from './lint/divergent-barrier.ts';
import { missingGuard } from './lint/missing-guard.ts';
import type { Rule } from './lint/rule.ts';
import { uncoalescedAccess } from './lint/uncoalesced-access.ts';

export type { Report, Rule, RuleContext } from './lint/rule.ts';
export type { Node } from './lint/tree.ts';

/** What a configuration of ESLint takes. */
export interface LintConfig {
  readonly name: string;
  readonly plugins: Readonly<Record<string, unknown>>;
  readonly rules: Readonly<Record<string, 'error' | 'warn'>>;
}

/** The plugin: its rules, and a configuration that turns all of them on. */
export interface LintPlugin {
  readonly meta: { readonly name: string };
  readonly rules: Readonly<Record<string, Rule>>;
  readonly configs: { readonly recommended: LintConfig };
}

const base = {
  meta: { name: 'tsamba' },
  rules: {
    'divergent-barrier': divergentBarrier,
    'missing-guard': missingGuard,
    'uncoalesced-access': uncoalescedAccess,
    'accidental-f64': accidentalF64,
  },
};

/** Rules for kernels: `export default [tsamba.configs.recommended]` in `eslint.config.js`. */
const plugin: LintPlugin = {
  ...base,
  configs: {
    recommended: {
      name: 'tsamba/recommended',
      plugins: { tsamba: base },
      rules: {
        'tsamba/divergent-barrier': 'error',
        'tsamba/missing-guard': 'warn',
        'tsamba/uncoalesced-access': 'warn',
        'tsamba/accidental-f64': 'warn',
      },
    },
  },
};

export default plugin;
