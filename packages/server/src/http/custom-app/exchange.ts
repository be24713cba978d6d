// The state of one request that is served through the project's app, before, in and after the app.
import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Problem } from '@svc/contract/problem';
import { watchedBody } from '../body/limited-body.ts';
import { type HttpEnv, type OuterRequest, requestIdOf } from '../routing/call.ts';
import type { Observe } from '../routing/mount.ts';
import {
  logRequest,
  type RequestEntry,
  type RequestSpan,
  type StartRequestSpan,
} from '../server/request-log.ts';
import type { HttpLogger } from '../server/problem.ts';
import { joinVary, withHeaders } from '../server/headers.ts';

interface Reporting {
  logger: HttpLogger;
  observe: Observe | undefined;
  startSpan?: StartRequestSpan | undefined;
  loggedHeaders: ((headers: Record<string, string>) => Record<string, string>) | undefined;
}

export class Exchange {
  readonly requestId: string;
  /** The route of the app that matches the request, or `*`. */
  route = '*';
  authenticated: OuterRequest['authenticated'];
  /** The error, when the body was larger than allowed. */
  excess: Problem | undefined;
  readonly #startedMs = performance.now();
  readonly #request: Request;
  readonly #env: HttpEnv['Bindings'];
  readonly #reporting: Reporting;
  readonly #span: RequestSpan | undefined;
  /** Aborted when the client has got the response, or has disconnected. */
  readonly #closed = new AbortController();
  /** Aborted when the reader of a response without a socket cancels it. */
  readonly #cancelled = new AbortController();
  /** The log entry of the built-in routes, if they have answered. */
  #answered: RequestEntry | undefined;

  constructor(request: Request, env: HttpEnv['Bindings'], reporting: Reporting) {
    this.#request = request;
    this.#env = env;
    this.#reporting = reporting;
    this.requestId = env.outer?.requestId ?? requestIdOf(request.headers.get('x-request-id') ?? undefined);
    this.#span = reporting.startSpan?.(request.method, (name) => request.headers.get(name) ?? undefined);
    const { signal } = request;
    if (signal.aborted) this.#closed.abort();
    else signal.addEventListener('abort', () => this.#closed.abort(), { once: true });
  }

  /** The body, if a program that contains this server has read it. */
  get readBody(): Uint8Array | undefined {
    return this.#env.outer?.body;
  }

  exceed(problem: Problem): void {
    this.excess = problem;
  }

  /** The request, as the built-in routes see it. */
  outer(): OuterRequest {
    const { incoming, outgoing, outer } = this.#env;
    return {
      requestId: this.requestId,
      signal: outgoing
        ? this.#request.signal
        : AbortSignal.any([this.#request.signal, this.#cancelled.signal]),
      closed: this.#closed.signal,
      remoteAddress: incoming?.socket.remoteAddress ?? outer?.remoteAddress,
      outgoing: outgoing ?? outer?.outgoing,
      isInsidePrefix: true,
      host: outer?.host,
      authenticated: this.authenticated,
      span: this.#span,
      onAnswer: (entry) => {
        this.#answered = entry;
      },
    };
  }

  /** The response with the id of the request. The request is logged when the response has been sent. */
  finish(given: Response): Response {
    if (this.#env.outgoing?.statusCode === 101) return this.#finishSocket(this.#env.outgoing);
    const { outgoing } = this.#env;
    const response = withHeaders(given, {
      ...(given.headers.has('x-request-id') ? {} : { 'x-request-id': this.requestId }),
      ...varyOf(given, outgoing),
    });
    const { status } = response;
    if (outgoing?.destroyed === false) outgoing.once('close', () => this.#end(status));
    else if (outgoing !== undefined || response.body === null) this.#end(status);
    if (outgoing && response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
      return response;
    const { body } = response;
    if (body === null) return response;
    const watched = watchedBody(body, {
      // Node's response is destroyed instead; the adapter would print the error to the console.
      closesOnError: outgoing !== undefined,
      onEnd: (error) => {
        if (outgoing === undefined) this.#end(status);
        else if (error !== undefined) outgoing.destroy();
        // An AbortError comes from this server, which has logged the reason.
        if (error !== undefined && (error as Error).name !== 'AbortError')
          this.#reporting.logger.error(
            { err: error, request_id: this.requestId },
            'a response of http.app failed while it was sent',
          );
      },
      onCancel: () => {
        if (outgoing !== undefined) return;
        this.#cancelled.abort();
        this.#end(status);
      },
    });
    return new Response(watched, response);
  }

  /** For a request that became a WebSocket: changes of the response by middleware have no effect. */
  #finishSocket(outgoing: ServerResponse): Response {
    if (outgoing.destroyed) this.#end(101);
    else outgoing.once('close', () => this.#end(101));
    return RESPONSE_ALREADY_SENT;
  }

  #end(status: number): void {
    this.#closed.abort();
    const { logger, observe, loggedHeaders } = this.#reporting;
    const { method, headers } = this.#request;
    const entry = {
      ...(this.#answered ?? { route: this.route }),
      requestId: this.requestId,
      startedMs: this.#startedMs,
      status,
      ids: this.#span?.ids,
      headers: loggedHeaders?.(Object.fromEntries(headers)),
    };
    observe?.(method, entry.route, status, performance.now() - this.#startedMs);
    this.#span?.end(entry);
    logRequest(logger, method, entry);
  }
}

/** Headers of the response replace those of the same name that Node's response has already. */
const varyOf = ({ headers }: Response, outgoing: ServerResponse | undefined): { vary?: string } => {
  const vary = headers.get('vary');
  const set = outgoing?.getHeader('vary');
  return vary === null || set === undefined ? {} : { vary: joinVary(set, vary) };
};
