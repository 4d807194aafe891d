/**
 * Takes the comments out of what is built: engines read them each time the library is loaded. The declarations keep theirs.
 *
 * What tells bundlers that a call may be dropped (`@__PURE__`) stays.
 */
import { parse } from 'acorn';
import MagicString from 'magic-string';

/** A plugin for Vite. */
export const withoutComments = {
  name: 'without-comments',
  renderChunk(code) {
    const text = new MagicString(code);
    const onComment = (_, words, start, end) => {
      // The first line of a command says what runs it.
      if (/[#@]__\w+__/.test(words) || (start === 0 && code.startsWith('#!'))) return;
      const line = code.lastIndexOf('\n', start) + 1;
      // With the line that it leaves empty.
      if (code.slice(line, start).trim() === '' && (code[end] === '\n' || code[end] === undefined))
        text.remove(line, Math.min(end + 1, code.length));
      else text.remove(start, end);
    };
    parse(code, { ecmaVersion: 'latest', sourceType: 'module', onComment });
    return { code: text.toString(), map: text.generateMap() };
  },
};
