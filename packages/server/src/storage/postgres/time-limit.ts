import { Problem } from '@svc/contract/problem';

const queryCanceled = '57014';

/** True when a statement exceeded its `statement_timeout`. */
export const isTimeLimit = (error: unknown): boolean =>
  error instanceof Problem && (error.cause as { code?: unknown } | undefined)?.code === queryCanceled;
