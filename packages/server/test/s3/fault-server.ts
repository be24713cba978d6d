// An S3 that fails on demand: a reverse proxy before the gateway. Signatures hold, since the Host that the client has
// signed goes on unchanged.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerError, carryOut, type Exchange } from './exchange.ts';
import { FaultRule, type Fault, type Match } from './fault-rule.ts';
import type { Gateway } from './gateway.ts';
import { readS3Request, type S3Operation, type S3Request } from './s3-request.ts';
import { openUpstream, type Upstream } from './upstream.ts';

export interface RecordedRequest extends S3Request {
  /** Of its body, as far as the client has sent it and it was read. */
  readonly bytes: number;
  /** What the client was answered; undefined as long as it was not. */
  readonly status: number | undefined;
  /** What went wrong. */
  readonly fault: Fault['kind'] | undefined;
}

/** How the requests go wrong that match. The first rule that is not yet, or no longer, due lets the next one decide. */
export interface Faults {
  /** An error of S3 in place of the gateway, which hears of nothing. */
  answer(status: number, code: string, message?: string): FaultRule;
  /** What S3 does when it fails after it has begun to answer: status 200, and an error in the body. */
  errorBody200(code?: string, message?: string): FaultRule;
  /** Bodies take their time, in both directions. */
  slow(bytesPerSecond: number): FaultRule;
  /** The request waits before the gateway until it is released; without that, it is a server that is silent. */
  gate(): FaultRule;
  /** The gateway does what it is asked to; its answer waits until it is released. */
  hang(): FaultRule;
  /** The connection is reset before the gateway hears of it, when so many bytes of the body have come. */
  reset(options?: { afterBytes?: number }): FaultRule;
  /** The gateway does what it is asked to; the connection is reset in place of its answer. */
  resetAfterCommit(): FaultRule;
  /** Of what a PutObject or UploadPart sends, so many bytes are stored; the client is told that all is well. */
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
    return this.#requests.map(({ asked, bytes, status, rule }) => ({
      ...asked,
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
      gate: () => add({ kind: 'gate' }),
      hang: () => add({ kind: 'hang' }),
      reset: ({ afterBytes = 0 } = {}) => add({ kind: 'reset', afterBytes }),
      resetAfterCommit: () => add({ kind: 'resetAfterCommit' }),
      truncate: (bytes) => add({ kind: 'truncate', bytes }),
    };
  }

  /** Everything goes right again: there are no rules, and what they hold goes on. */
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
    const asked = readS3Request(request);
    // All rules count, also those that another one comes before.
    const [rule] = this.#rules.filter((each) => each.take(asked));
    const exchange: Exchange = { request, response, asked, rule, bytes: 0, status: undefined };
    this.#requests.push(exchange);
    try {
      await carryOut(exchange, this.#upstream);
    } catch (error) {
      if (request.socket.destroyed) return; // the client has gone, or was sent away
      answerError(exchange, 502, 'ProxyError', String(error));
    }
  }
}
