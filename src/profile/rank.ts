/**
 * Which of several processes that belong together this one is, as launchers say it.
 */
import { type Environment, environment, variable } from '../environment.ts';

/** Of `npx tsamba run`, torchrun and Kubernetes' operators; of Open MPI, Slurm, and what speaks PMI. */
const VARIABLES = ['RANK', 'OMPI_COMM_WORLD_RANK', 'SLURM_PROCID', 'PMI_RANK'];

/** The rank of this process; undefined where nobody says. */
export function rankOfProcess(env: Environment = environment()): number | undefined {
  for (const name of VARIABLES) {
    const text = variable(name, env)?.trim();
    if (text !== undefined && /^\d+$/.test(text)) return Number(text);
  }
  return undefined;
}
