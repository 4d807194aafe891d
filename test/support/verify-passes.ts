/** Set up before each test file: the verifier looks at what every pass of the compiler made. */
import { verifyPasses } from '../../src/compiler/ir/passes/pipeline.ts';

verifyPasses();
