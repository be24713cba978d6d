import { CommanderError } from 'commander';
import { exitCodeOf } from './output/exit-code.ts';
import { explain } from './output/explain.ts';
import { createProgram } from './program.ts';

/** Runs the command that the arguments name, and leaves its outcome in the exit code. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    // Commander has printed what was wrong, or the help that was asked for.
    if (!(error instanceof CommanderError)) console.error(explain(error));
  }
}
