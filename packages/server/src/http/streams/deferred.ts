// Sends JSON that is available when a run ends. If that is soon, the response is an ordinary one. Otherwise the head is sent early,
// followed by newlines (whitespace before JSON), so that no proxy closes the connection as idle.
import type { Writable } from 'node:stream';
import type { DeferredResponse } from '../../api/handlers.ts';
import { type HttpLogger, logProblem, toProblem } from '../server/problem.ts';

export interface DeferredOptions {
  /** How long to wait for the text before the head is sent. */
  waitMs: number;
  newlineMs: number;
}

/** Sends newlines until the text is available, then the text. The head is sent already. */
export const sendDeferred = (
  out: Writable,
  response: DeferredResponse,
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
  response.text
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
