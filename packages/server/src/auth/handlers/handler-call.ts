// Calling what the project wrote: bounded in time, and whatever goes wrong is told to the log, not to the client.
import { Problem } from '@svc/contract/problem';
import { toRefusal } from '../authorization/refusal.ts';

/** A mistake of an auth handler. The client learns only that there was one. */
export class AuthHandlerError extends Error {
  override readonly name = 'AuthHandlerError';
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';

const inTime = (answer: PromiseLike<unknown>, timeoutMs: number): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(
      () =>
        reject(new Problem('unavailable', 'Who you are, or what you may do, could not be found out in time')),
      timeoutMs,
    );
    timer.unref();
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });

/**
 * What the handler answers. Throws a Refusal for its HTTPException, `unavailable` when it takes too long, and `internal`
 * for anything else, with the cause for the log.
 */
export const callHandler = async <T>(
  name: string,
  timeoutMs: number,
  call: () => unknown,
  read: (answer: unknown) => T,
): Promise<T> => {
  try {
    const answer = call();
    return read(isThenable(answer) ? await inTime(answer, timeoutMs) : answer);
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw (
      toRefusal(error) ??
      new Problem(
        'internal',
        `The auth handler ${name} made a mistake; the log of the server has the details.`,
        {
          cause: error,
        },
      )
    );
  }
};
