/**
 * `tsamba cache`: the machine code of kernels that is kept on disk.
 */
import { cachedFolders, clearCaches } from '../driver/binary-cache.ts';
import { type Command, defineCommand, EXIT, oneOf } from './command-line.ts';
import { bytesText, rowsText } from './text.ts';

export const cache: Command = defineCommand({
  name: 'cache',
  usage: 'info|clear [--json]',
  summary: 'shows or clears the compiled kernels that are kept on disk',
  options: { json: { help: 'prints JSON' } },
  words: 1,
  notes: 'TSAMBA_CACHE_DIR names the folder; TSAMBA_CACHE=0 turns the cache off.',
  async run({ options, rest: [word = 'info'] }) {
    const action = oneOf('tsamba cache', word, ['info', 'clear']);
    const before = cachedFolders();
    if (action === 'clear') clearCaches();
    const left = action === 'clear' ? cachedFolders() : before;
    if (options.has('json')) {
      console.log(JSON.stringify(action === 'clear' ? { before, after: left } : { folders: before }, undefined, 2));
    } else if (before.length === 0) {
      console.log('the cache is off (TSAMBA_CACHE=0)');
    } else {
      const rows = before.map(
        ({ kind, folder, files, bytes }) => [kind, `${folder}: ${files} files, ${bytesText(bytes)}`] as const,
      );
      console.log(action === 'clear' ? `Removed:\n${rowsText(rows, '  ')}` : rowsText(rows));
    }
    const remaining = left.reduce((sum, { files }) => sum + files, 0);
    if (action === 'info' || remaining === 0) return EXIT.ok;
    console.error(`${remaining} files could not be removed: the folder belongs to another user`);
    return EXIT.failed;
  },
});
