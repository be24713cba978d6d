import { CommanderError } from 'commander';
import { explain } from './explain.ts';
import { createProgram } from './program.ts';

/** Runs the command that the arguments name, and leaves its outcome in the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function main(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has printed what was wrong, or the help that was asked for.
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    console.error(explain(error));
    process.exitCode = 1;
  }
}
