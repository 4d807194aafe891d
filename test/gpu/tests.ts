/**
 * All tests that a run picks, in order: the conformance suite, the fuzzing corpus, and what only a GPU can show.
 */
import { cuda } from '../../src/index.ts';
import { conformanceTests } from '../../testsuite/index.ts';
import { LEFT_OPEN_BY_WGSL, lackingIn, WEBGPU_LACKS } from '../support/lacking.ts';
import { fuzzing } from './fuzz.ts';
import { modules } from './modules.ts';
import type { Options } from './options.ts';
import { Skipped } from './suite.ts';

export interface Entry {
  readonly chapter: string;
  readonly name: string;
  readonly seconds: number;
  /** Gives a note, perhaps. */
  readonly run: () => Promise<string | undefined>;
}

/** The same list for the same options, in every process. */
export function entries(options: Options): readonly Entry[] {
  const { namespace } = options;
  const suite = conformanceTests.filter(
    ({ chapter }) => namespace === undefined || chapter.startsWith('roc ') === (namespace === 'roc'),
  );
  const conformance = suite.map(({ chapter, name, run }) => ({ chapter, name, run, onDemand: false }));
  const only = options.device === 'nvidia' || options.filters.length > 0 ? modules : [];
  const lacks = options.device === 'webgpu' ? WEBGPU_LACKS : [];
  const others = (namespace === undefined ? [...fuzzing(options, lacks), ...only] : []).flatMap(({ chapter, tests }) =>
    tests.map((test) => ({ chapter, onDemand: false, ...test })),
  );
  const hit = (texts: readonly string[], title: string): boolean => texts.some((text) => title.includes(text));
  return [...conformance, ...others]
    .filter(({ chapter, name, onDemand }) => {
      const title = `${chapter}: ${name}`;
      const asked = options.filters.length === 0 ? !onDemand : hit(options.filters, title);
      return asked && !hit(options.excluded, title);
    })
    .filter((_, k) => k % options.part.of === options.part.index)
    .map(({ chapter, name, run, ...rest }) => ({
      chapter,
      name,
      seconds: options.patience * (('seconds' in rest ? rest.seconds : undefined) ?? 60),
      run: async () => {
        try {
          const note = await run();
          cuda.synchronize();
          return typeof note === 'string' ? note : undefined;
        } catch (error) {
          const isOpen = lacks.length > 0 && LEFT_OPEN_BY_WGSL.includes(`${chapter}: ${name}`);
          const lacking = isOpen ? 'WGSL leaves this open' : lackingIn(error, lacks);
          throw lacking === undefined ? error : new Skipped(lacking);
        }
      },
    }));
}
