/**
 * The plugin for webpack: `plugins: [tsamba()]`. It adds a loader that runs when all others are through with a module.
 */
import { join } from 'node:path';
import { checkPluginOptions, type PluginOptions, packageFolder, SCRIPTS } from './plugin.ts';

export type { FilePattern, PluginOptions } from './plugin.ts';

/** What is used of a compiler of webpack's kind. */
export interface WebpackCompiler {
  /** The options of the build: the plugin adds a rule to `module.rules`. */
  options: { module: { rules: unknown[] } };
  /** The folder of the project. */
  context: string;
}

/** A plugin as webpack and Rspack have them. */
export interface WebpackPlugin {
  /** Called by webpack when a build begins. */
  apply(compiler: WebpackCompiler): void;
}

/** Makes kernels readable in pages, in Bun and Deno, and in minified code; errors point into your own files. */
export default function tsamba(options?: PluginOptions): WebpackPlugin {
  const checked = checkPluginOptions(options);
  return {
    apply(compiler) {
      const loader = join(packageFolder(), 'dist/cjs/plugins/loader.js');
      const use = [{ loader, options: { ...checked, root: checked.root ?? compiler.context } }];
      compiler.options.module.rules.push({ test: SCRIPTS, enforce: 'post', use });
    },
  };
}
