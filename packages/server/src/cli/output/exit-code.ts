// Exit codes of the commands. The help and docs/exports.md have the table.
import { CommanderError } from 'commander';
import { ConfigError, type Mistake } from '../../config/project/mistake.ts';

export const exitCodes = {
  done: 0,
  /** Any other failure: the server rejected the request, no object has the id, the configuration has mistakes. */
  failed: 1,
  /** Unknown command or option, or an invalid value. */
  usage: 2,
  /** No connection to the server, or it responds with 502, 503 or 504. */
  unreachable: 3,
  /** An export ended and is not complete, or a destination failed its test. */
  exportFailed: 4,
  /** Ctrl-C during watch. */
  interrupted: 130,
  /** SIGTERM during a command that cleans up before it ends. */
  terminated: 143,
} as const;

export const exitCodeHelp = `
Exit codes:
  0    done; all watched exports are complete
  1    failed for another reason, see the message
  2    wrong usage: a command, an option or a value is wrong
  3    the server cannot be reached, or is unavailable (502, 503, 504)
  4    an export failed, was cancelled or timed out; a destination failed its test
  130  watch was interrupted; the export continues
`;

/** Mistakes in the command line. */
export class UsageError extends ConfigError {
  constructor(mistakes: readonly Mistake[]) {
    super(mistakes);
    this.name = 'UsageError';
  }
}

export class ServerUnreachable extends Error {
  override readonly name = 'ServerUnreachable';
}

/** A signal ended the command, which has cleaned up. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(`stopped by ${signal}`);
    this.exitCode = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
  }
}

/** Settings can come from flags, the environment and files. Only flags are usage. */
const isOfFlags = ({ mistakes }: ConfigError): boolean =>
  mistakes.every(({ where }) => where.startsWith('flag '));

const unavailable = new Set<unknown>([502, 503, 504]);

export const exitCodeOf = (error: unknown): number => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof ConfigError) return isOfFlags(error) ? exitCodes.usage : exitCodes.failed;
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof ServerUnreachable) return exitCodes.unreachable;
    if (current instanceof Interrupted) return current.exitCode;
    const { status } = current as { status?: unknown };
    if (current.name === 'ApiError' && unavailable.has(status)) return exitCodes.unreachable;
    // Validation of the request failed: the values come from the command line.
    if (current.name === 'ApiError' && status === 422) return exitCodes.usage;
  }
  return exitCodes.failed;
};
