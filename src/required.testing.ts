/**
 * For tests: which tools must be there. TSAMBA_TEST_REQUIRE is a list of them, apart by commas, without which tests fail
 * instead of being skipped; what each name stands for is said where it is asked for.
 */

/** Whether tests have to fail when this tool is missing. */
export function isRequired(tool: string): boolean {
  return process.env['TSAMBA_TEST_REQUIRE']?.split(',').includes(tool) ?? false;
}

/** Whether everything is tested (`vitest --mode all`, `npm run test:all`): also what differs little from what is. */
export function isThorough(): boolean {
  return process.env['MODE'] === 'all';
}

/** How many random cases a test tries, of as many as it does where everything is tested: a third otherwise. */
export function randomCases(all: number): number {
  return isThorough() ? all : Math.ceil(all / 3);
}
