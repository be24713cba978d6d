// An S3 that fails on demand: a reverse proxy in front of the gateway. Signatures stay valid because the proxy forwards the signed Host
// header unchanged.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerError, carryOut, type Exchange } from './exchange.ts';
import { FaultRule, type Fault, type Match } from './fault-rule.ts';
import type { Gateway } from './gateway.ts';
import { readS3Request, type S3Operation, type S3Request } from './s3-request.ts';
import { openUpstream, type Upstream } from './upstream.ts';

export interface RecordedRequest extends S3Request {
  /** The bytes of its body that were read so far. */
  readonly bytes: number;
  /** The status that the client got; undefined while there is none. */
  readonly status: number | undefined;
  /** The fault that was applied. */
  readonly fault: Fault['kind'] | undefined;
}

/** Faults for matching requests. A rule that does not apply yet, or no longer, leaves the decision to the next rule. */
export interface Faults {
  /** Responds with an S3 error; the gateway does not get the request. */
  answer(status: number, code: string, message?: string): FaultRule;
  /** Responds like S3 when it fails after it has started to respond: status 200 with an error in the body. */
  errorBody200(code?: string, message?: string): FaultRule;
  /** Slows down bodies in both directions. */
  slow(bytesPerSecond: number): FaultRule;
  /** Holds the request before the gateway until it is released; the server seems silent. */
  hold(): FaultRule;
  /** Forwards the request, and holds the response until it is released. */
  hang(): FaultRule;
  /** Resets the connection before the gateway gets the request, after `afterBytes` of the body. */
  reset(options?: { afterBytes?: number }): FaultRule;
  /** Forwards the request, and resets the connection instead of responding. */
  resetAfterCommit(): FaultRule;
  /** Stores only the first bytes of a PutObject or UploadPart and reports success. */
  truncate(bytes: number): FaultRule;
}

/** For clients with path-style addresses. */
export const openFaultServer = async (
  gateway: Pick<Gateway, 'endpoint' | 'keys' | 'client'>,
): Promise<FaultServer> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new FaultServer(server, openUpstream(gateway));
};

export class FaultServer implements AsyncDisposable {
  readonly endpoint: string;
  readonly #server: Server;
  readonly #upstream: Upstream;
  readonly #requests: Exchange[] = [];
  readonly #running = new Set<Promise<void>>();
  #rules: FaultRule[] = [];

  constructor(server: Server, upstream: Upstream) {
    this.#server = server;
    this.#upstream = upstream;
    this.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      const running = this.#handle(request, response);
      this.#running.add(running);
      void running.finally(() => this.#running.delete(running));
    });
  }

  /** All requests so far, in the order of their arrival. */
  get requests(): readonly RecordedRequest[] {
    return this.#requests.map(({ s3Request, bytes, status, rule }) => ({
      ...s3Request,
      bytes,
      status,
      fault: rule?.fault.kind,
    }));
  }

  requestsOf(operation: S3Operation): readonly RecordedRequest[] {
    return this.requests.filter((request) => request.operation === operation);
  }

  on(match: Match = {}): Faults {
    const add = (fault: Fault): FaultRule => {
      const rule = new FaultRule(match, fault);
      this.#rules.push(rule);
      return rule;
    };
    return {
      answer: (status, code, message = `${code} on demand`) => add({ kind: 'answer', status, code, message }),
      errorBody200: (code = 'InternalError', message = `${code} on demand`) =>
        add({ kind: 'answer', status: 200, code, message }),
      slow: (bytesPerSecond) => add({ kind: 'slow', bytesPerSecond }),
      hold: () => add({ kind: 'hold' }),
      hang: () => add({ kind: 'hang' }),
      reset: ({ afterBytes = 0 } = {}) => add({ kind: 'reset', afterBytes }),
      resetAfterCommit: () => add({ kind: 'resetAfterCommit' }),
      truncate: (bytes) => add({ kind: 'truncate', bytes }),
    };
  }

  /** Removes all rules and releases the requests that they hold. */
  clear(): void {
    for (const rule of this.#rules) rule.release();
    this.#rules = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    this.clear();
    this.#upstream.close();
    await Promise.all([closed, ...this.#running]);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const s3Request = readS3Request(request);
    // Every rule counts the request, also when an earlier rule applies.
    const [rule] = this.#rules.filter((each) => each.take(s3Request));
    const exchange: Exchange = { request, response, s3Request, rule, bytes: 0, status: undefined };
    this.#requests.push(exchange);
    try {
      await carryOut(exchange, this.#upstream);
    } catch (error) {
      if (request.socket.destroyed) return; // the client has disconnected, or was disconnected
      answerError(exchange, 502, 'ProxyError', String(error));
    }
  }
}
