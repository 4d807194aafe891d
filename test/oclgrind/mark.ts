/** What stands before a test's name in the output of a process under Oclgrind. */
export const TEST_MARK = '@@ ';
