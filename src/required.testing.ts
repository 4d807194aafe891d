/**
 * For tests: which tools must be there. TSAMBA_TEST_REQUIRE is a list of them, apart by commas, without which tests fail
 * instead of being skipped; what each name stands for is said where it is asked for.
 */

/** Whether tests have to fail when this tool is missing. */
export function isRequired(tool: string): boolean {
  return process.env['TSAMBA_TEST_REQUIRE']?.split(',').includes(tool) ?? false;
}
