import { Problem } from '@svc/contract/problem';
import type { ProblemData } from './tasks.ts';

export const toProblemData = (thrown: unknown): ProblemData => {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const problem = error instanceof Problem ? error : undefined;
  return { code: problem?.code, message: error.message, faults: problem?.faults, stack: error.stack };
};

export const fromProblemData = ({ code, message, faults, stack }: ProblemData): Error => {
  if (code === undefined) return Object.assign(new Error(message), { stack });
  return new Problem(code, message, faults ? { faults } : {});
};
