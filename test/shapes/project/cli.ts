/** Entry of the shapes that are plain programs: writes the outcome where `SHAPE_OUT` says. */
import { writeFileSync } from 'node:fs';
import { run } from './main.js';

writeFileSync(process.env.SHAPE_OUT ?? '/dev/stdout', JSON.stringify(run()));
