// Errors of commands. They are part of a response with status 200; faults of the server itself stay errors of HTTP.
import type { CommandErrorCode } from '@svc/contract';
import { Problem, type ProblemCode } from '@svc/contract/problem';
import type { z } from 'zod';

export class CommandError extends Error {
  readonly code: CommandErrorCode;

  constructor(code: CommandErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

const codes: Partial<Record<ProblemCode, CommandErrorCode>> = {
  bad_request: 'invalid_argument',
  invalid: 'invalid_argument',
  not_found: 'invalid_argument',
  conflict: 'invalid_argument',
  forbidden: 'permission_denied',
  not_supported: 'not_supported',
};

/** Undefined for errors that are no answer to the command. */
export const toCommandError = (error: unknown): CommandError | undefined => {
  if (error instanceof CommandError) return error;
  const code = error instanceof Problem ? codes[error.code] : undefined;
  return code && new CommandError(code, (error as Problem).message);
};

/** The value, or the error that names the faults of the parameters. */
export const parsed = <T extends z.ZodType>(schema: T, value: unknown, place: string): z.output<T> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${[place, ...path].join('.')}: ${message}`);
  throw new CommandError('invalid_argument', faults.join('; '));
};
