/**
 * Has the functions that a program's first kernel calls compiled while the library is loaded.
 *
 * V8 only looks over the functions of a file that it loads, and compiles each at its first call, which reads it once more. Of the
 * first launch of a process that was more than half the time. Function expressions in parentheses are compiled at once
 * (https://v8.dev/blog/preparser#pife), so those that are known to be called get them; for the rest, looking over is cheaper.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import MagicString from 'magic-string';

const PROBE = fileURLToPath(new URL('./first-kernel.mjs', import.meta.url));

/** The names of the functions of a built library that its first kernel calls, by chunk. */
export function calledFirst(dist) {
  const text = execFileSync(process.execPath, [PROBE, join(dist, 'index.js')], {
    encoding: 'utf8',
    env: { ...process.env, TSAMBA_DEVICE: 'cpu', TSAMBA_CPU_THREADS: '1', TSAMBA_WARN_IMPLICIT_COPY: '0' },
  });
  return new Map(Object.entries(JSON.parse(text)).map(([chunk, names]) => [chunk, new Set(names)]));
}

/**
 * A plugin for Vite. Declarations of these functions become variables at the top of their chunk, as code above them may call them;
 * what is assigned to a prototype, as acorn does, stays where it is.
 */
export function eagerly(called) {
  return {
    name: 'eager-functions',
    renderChunk: {
      // After what Vite does itself, which would give functions within an expression other names.
      order: 'post',
      handler(code, { name }) {
        const names = called.get(name);
        if (names === undefined) return null;
        const text = new MagicString(code);
        for (const { type, id, start, end, expression } of this.parse(code).body) {
          if (type === 'FunctionDeclaration' && names.has(id.name)) {
            text.appendRight(start, `var ${id.name} = (`);
            text.appendLeft(end, ');\n');
            text.move(start, end, 0);
          } else if (type === 'ExpressionStatement' && expression.type === 'AssignmentExpression') {
            const { left, right } = expression;
            if (right.type !== 'FunctionExpression' || !names.has(code.slice(left.start, left.end))) continue;
            text.appendRight(right.start, '(');
            text.appendLeft(right.end, ')');
          }
        }
        return { code: text.toString(), map: text.generateMap() };
      },
    },
  };
}
