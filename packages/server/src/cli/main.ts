import { CommanderError } from 'commander';
import { exitCodeOf } from './output/exit-code.ts';
import { explain } from './output/explain.ts';
import { createProgram } from './program.ts';

/** Ends quietly when the reader of the output has closed it, as in `svc config | head`. A server continues. */
function surviveClosedOutput(serves: boolean): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    if (!serves) process.exit();
  });
}

/** Runs the command of the arguments, and sets the exit code. */
export async function main(args: readonly string[]): Promise<void> {
  surviveClosedOutput(['start', 'dev'].includes(args[0] ?? ''));
  try {
    await createProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    // Commander has printed its errors and the help.
    if (!(error instanceof CommanderError)) console.error(explain(error));
  }
}
