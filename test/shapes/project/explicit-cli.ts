/** Entry for an engine without an inspector, which can run the explicit form alone. */
import { runExplicit } from './explicit.js';

console.log(JSON.stringify(runExplicit()));
