/**
 * The package that this command belongs to: its folder and its version.
 */
import { nodeModule } from '../host/index.ts';

/** The folder of the package: the first above this file whose package.json is Tsamba's. */
export function packageFolder(): string {
  const { dirname, join } = nodeModule('node:path');
  const { existsSync, readFileSync } = nodeModule('node:fs');
  for (let at = dirname(nodeModule('node:url').fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    const file = join(at, 'package.json');
    if (existsSync(file) && (JSON.parse(readFileSync(file, 'utf8')) as { name?: unknown }).name === 'tsamba') return at;
    if (dirname(at) === at) throw new Error('the package.json of Tsamba is not above its command');
  }
}

/** The version of the package. */
export function packageVersion(): string {
  const file = nodeModule('node:path').join(packageFolder(), 'package.json');
  const { version } = JSON.parse(nodeModule('node:fs').readFileSync(file, 'utf8')) as { readonly version: string };
  return version;
}
