// The result of one check of an installation.
import { within } from '../../backoff.ts';

/** `skipped`: the check could not run, for the reason in the message. */
export type Status = 'ok' | 'warning' | 'problem' | 'skipped';

export interface Outcome {
  status: Status;
  /** One sentence or more, for the operator. */
  message: string;
  /** What to do; undefined when nothing is wrong. */
  remedy?: string;
}

/** An outcome with the name of its check. */
export interface Finding extends Outcome {
  check: string;
}

export const ok = (message: string): Outcome => ({ status: 'ok', message });
export const warning = (message: string, remedy: string): Outcome => ({ status: 'warning', message, remedy });
export const problem = (message: string, remedy: string): Outcome => ({ status: 'problem', message, remedy });
export const skipped = (message: string): Outcome => ({ status: 'skipped', message });

// Runs one check with a time limit. An error of a check does not end the others.

export interface Check {
  name: string;
  limitMs: number;
  run: () => Outcome | Outcome[] | Promise<Outcome | Outcome[]>;
}

/** SQLSTATEs of a table, column or function that a newer schema has. */
const notThere = new Set<unknown>(['42P01', '42703', '42883']);
const forbidden = '42501';

export const runCheck = async ({ name, limitMs, run }: Check): Promise<Finding[]> => {
  const outcomes = await within((async () => run())().catch(failed), limitMs, () => unfinished(limitMs));
  return [outcomes].flat().map((outcome) => ({ check: name, ...outcome }));
};

const unfinished = (limitMs: number): Outcome => ({
  status: 'warning',
  message: `The check did not finish within ${limitMs / 1_000} s.`,
  remedy: 'Run svc doctor again; if it happens again, what is checked is overloaded or does not respond.',
});

const failed = (error: unknown): Outcome => {
  const code = codeOf(error);
  if (notThere.has(code))
    return {
      status: 'skipped',
      message: 'The schema does not exist, or is older than this program: run svc migrate first.',
    };
  const message = `The check failed: ${error instanceof Error ? error.message : String(error)}`;
  const remedy =
    code === forbidden
      ? 'Grant the user of DATABASE_URI access to the schema svc.'
      : 'Run svc doctor again; if it happens again, report it.';
  return { status: 'warning', message, remedy };
};

/** The code of the error, or of the error that caused it. */
const codeOf = (error: unknown): unknown => {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code } = at as { code?: unknown };
    if (typeof code === 'string' && /^\d/.test(code)) return code;
  }
  return undefined;
};
