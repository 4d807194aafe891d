/**
 * Where in the editor an error is. Programs are modules made of the editor's text, line by line, so lines of the module are the editor's;
 * errors of kernels count lines in the kernel's own text, which stands somewhere in the editor's.
 */
/** A line of the editor, from 1, and what to say there. */
export interface Mark {
  readonly line: number;
  readonly message: string;
}

/** The line that an error is about; undefined where it has none. `kernels` are the texts of kernels by their names. */
export async function markOf(
  error: unknown,
  code: string,
  url: string,
  kernels: ReadonlyMap<string, string>,
): Promise<Mark | undefined> {
  if (!(error instanceof Error)) return undefined;
  const message = String(error.message.split('\n')[0]);
  const line = lineInKernel(error.message, code, kernels) ?? lineInStack(error, url);
  if (line !== undefined) return { line, message };
  return error instanceof SyntaxError ? syntaxError(url) : undefined;
}

/** `line 3:10   in kernel "name"` of the compiler, `name:3:10` of a fault. */
function lineInKernel(text: string, code: string, kernels: ReadonlyMap<string, string>): number | undefined {
  const inCompiler = /--> line (\d+):\d+ +in kernel "([^"]+)"/.exec(text);
  const inFault = /--> ([\w$]+):(\d+):\d+/.exec(text);
  const [line, name] = inCompiler ? inCompiler.slice(1) : inFault ? [inFault[2], inFault[1]] : [];
  const at = code.indexOf(kernels.get(name ?? '') ?? '\0');
  return line === undefined || at < 0 ? undefined : code.slice(0, at).split('\n').length + Number(line) - 1;
}

function lineInStack({ stack = '' }: Error, url: string): number | undefined {
  const at = stack.indexOf(`${url}:`);
  const line = at < 0 ? undefined : /^\d+/.exec(stack.slice(at + url.length + 1))?.[0];
  return line === undefined ? undefined : Number(line);
}

/** An import rejects without a place; the same file in a `<script>` reports one, and does not run. */
function syntaxError(url: string): Promise<Mark | undefined> {
  return new Promise((resolve) => {
    const script = document.createElement('script');
    const done = (mark: Mark | undefined): void => {
      window.removeEventListener('error', hear);
      script.remove();
      resolve(mark);
    };
    const hear = (event: ErrorEvent): void => {
      if (event.filename !== url) return;
      event.preventDefault();
      done({ line: event.lineno, message: event.message.replace(/^Uncaught /, '') });
    };
    window.addEventListener('error', hear);
    script.addEventListener('error', () => done(undefined));
    setTimeout(() => done(undefined), 1000);
    Object.assign(script, { type: 'module', src: url });
    document.head.append(script);
  });
}
