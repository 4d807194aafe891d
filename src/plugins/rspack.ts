/**
 * The plugin for Rspack: `plugins: [tsamba()]`. Its plugins and loaders are webpack's.
 */
export type { FilePattern, PluginOptions, WebpackCompiler, WebpackPlugin } from './webpack.ts';
export { default } from './webpack.ts';
