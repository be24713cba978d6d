// JSON that comes when a run ends. What comes soon is an ordinary response; what does not gets its head early and
// newlines, blanks in front of JSON, so that no proxy takes the connection for dead.
import type { ServerResponse } from 'node:http';
import type { DeferredResponse } from '../../api/handlers.ts';
import { type HttpLogger, logProblem, toProblem } from '../server/problem.ts';

export interface DeferredOptions {
  /** How long a response may take before its head is sent. */
  patienceMs: number;
  newlineMs: number;
}

/** The text if it comes soon, else undefined. Rejects when the text fails soon: that still has a status. */
export const textIfSoon = async (late: DeferredResponse, patienceMs: number): Promise<string | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const impatience = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, patienceMs, undefined);
  });
  try {
    return await Promise.race([late.text, impatience]);
  } finally {
    clearTimeout(timer);
  }
};

/** Sends newlines until the text comes. The head is written already. */
export const sendDeferred = (
  out: ServerResponse,
  late: DeferredResponse,
  newlineMs: number,
  request: { requestId: string; logger: HttpLogger; onText: (text: string) => void },
): void => {
  const beat = setInterval(() => {
    // A client that does not read needs no more newlines.
    if (!out.writableNeedDrain) out.write('\n');
  }, newlineMs);
  out.on('close', () => clearInterval(beat));
  if (out.destroyed) clearInterval(beat);
  else out.write('\n');
  late.text
    .catch((error: unknown) => {
      const problem = toProblem(error);
      logProblem(problem, request.requestId, request.logger);
      return JSON.stringify({ __error__: { error: problem.code, message: problem.message } });
    })
    .then((text) => {
      clearInterval(beat);
      request.onText(text);
      if (!out.destroyed) out.end(text);
    })
    .catch(() => out.destroy());
};
