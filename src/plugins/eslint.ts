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
  /** What ESLint calls the configuration. */
  readonly name: string;
  /** The plugins, by the names that rules are written with. */
  readonly plugins: Readonly<Record<string, unknown>>;
  /** The rules that are on, and how serious they are. */
  readonly rules: Readonly<Record<string, 'error' | 'warn'>>;
}

/** The plugin: its rules, and a configuration that turns all of them on. */
export interface LintPlugin {
  /** The name of the plugin. */
  readonly meta: { readonly name: string };
  /** The rules, by name. */
  readonly rules: Readonly<Record<string, Rule>>;
  /** Configurations: `recommended` turns on all rules. */
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
