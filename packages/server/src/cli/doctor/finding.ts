// The result of one check of an installation.

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
