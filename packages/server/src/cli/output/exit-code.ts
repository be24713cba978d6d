// Exit codes of the commands. The help and docs/exports.md have the table.
import { CommanderError } from 'commander';
import { ConfigError } from '../../config/project/mistake.ts';

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  exportFailed: 4,
  interrupted: 130,
  terminated: 143,
} as const;

const meanings: Record<keyof typeof exitCodes, string> = {
  done: 'done; all watched exports are complete',
  failed: 'failed for another reason, see the message',
  usage: 'wrong usage: a command, an option or a value is wrong',
  unreachable: 'the server cannot be reached, or is unavailable (502, 503, 504)',
  exportFailed: 'an export failed, was cancelled or timed out; a destination failed its test',
  interrupted: 'interrupted by Ctrl-C; a watched export continues',
  terminated: 'ended by SIGTERM',
};

export const exitCodeHelp = `
Exit codes:
${Object.entries(exitCodes)
  .map(([name, code]) => `  ${String(code).padEnd(4)} ${meanings[name as keyof typeof exitCodes]}`)
  .join('\n')}
`;

export const exitCodeOfSignal = (signal: 'SIGINT' | 'SIGTERM'): number =>
  signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;

/** Mistakes in the command line. */
export class UsageError extends ConfigError {
  override readonly name = 'UsageError';
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
    this.exitCode = exitCodeOfSignal(signal);
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
