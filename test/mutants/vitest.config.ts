/** For mutants: the first counterexample of a property ends its test, as nobody will look at a smaller one. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['{src,test}/**/*.test.ts'],
    setupFiles: [new URL('setup.ts', import.meta.url).pathname],
    testTimeout: 60_000,
  },
});
