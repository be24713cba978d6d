// One request and its response, and the effect of a fault on them.
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultRule } from './fault-rule.ts';
import type { S3Request } from './s3-request.ts';
import { endToEnd, type Upstream } from './upstream.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly s3Request: S3Request;
  readonly rule: FaultRule | undefined;
  /** Bytes of the body that were read. */
  bytes: number;
  status: number | undefined;
}

/** Executes the exchange. Throws when a side disconnects. */
export const carryOut = async (exchange: Exchange, upstream: Upstream): Promise<void> => {
  const { s3Request, request, rule } = exchange;
  if (!rule) return answer(exchange, await forward(exchange, upstream));
  const { fault } = rule;
  switch (fault.kind) {
    case 'answer':
      rule.hit();
      await read(exchange);
      return answerError(exchange, fault.status, fault.code, fault.message);
    case 'slow':
      rule.hit();
      return answer(exchange, await forward(exchange, upstream));
    case 'hold':
      rule.hit();
      await rule.untilReleased();
      if (request.socket.destroyed) return; // the client has disconnected
      return answer(exchange, await forward(exchange, upstream));
    case 'hang': {
      const answered = await forward(exchange, upstream);
      rule.hit();
      await rule.untilReleased();
      return answer(exchange, answered);
    }
    case 'reset':
      await read(exchange, fault.afterBytes);
      request.socket.resetAndDestroy();
      return rule.hit();
    case 'resetAfterCommit': {
      const answered = await forward(exchange, upstream);
      await once(answered.resume(), 'end');
      request.socket.resetAndDestroy();
      return rule.hit();
    }
    case 'truncate': {
      const body = await read(exchange);
      const etag = await upstream.store(s3Request, body.subarray(0, fault.bytes));
      rule.hit();
      exchange.status = 200;
      exchange.response.writeHead(200, { ETag: etag }).end();
    }
  }
};

/** An error response in the format of S3. The response to a HEAD has no body. */
export const answerError = (exchange: Exchange, status: number, code: string, message: string): void => {
  const { s3Request, response } = exchange;
  const text =
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<Error><Code>${code}</Code><Message>${message}</Message><BucketName>${s3Request.bucket}</BucketName>` +
    '<RequestId>fault</RequestId><HostId>fault</HostId></Error>';
  if (response.headersSent) {
    response.destroy();
    return;
  }
  exchange.status = status;
  response.writeHead(status, { 'content-type': 'application/xml', 'x-amz-request-id': 'fault' });
  response.end(s3Request.method === 'HEAD' ? undefined : text);
};

/** Forwards the request and returns the gateway's response, which may start before the request is complete. */
const forward = async (exchange: Exchange, upstream: Upstream): Promise<IncomingMessage> => {
  const forwarded = upstream.forward(exchange.request);
  const answered = once(forwarded, 'response') as Promise<[IncomingMessage]>;
  forwarded.on('error', () => undefined); // `answered` rejects with the same error
  const sent = send(exchange, forwarded);
  const [message] = await Promise.race([answered, sent.then(() => answered)]);
  return message;
};

const send = async (exchange: Exchange, forwarded: ClientRequest): Promise<void> => {
  const closed = new Promise((resolve) => forwarded.once('close', resolve));
  try {
    for await (const chunk of pass(exchange, exchange.request as AsyncIterable<Buffer>, true)) {
      if (forwarded.destroyed || forwarded.write(chunk)) continue;
      await Promise.race([new Promise((resolve) => forwarded.once('drain', resolve)), closed]);
    }
    forwarded.end();
  } catch (error) {
    forwarded.destroy();
    throw error;
  }
};

const answer = async (exchange: Exchange, answered: IncomingMessage): Promise<void> => {
  const { response } = exchange;
  exchange.status = answered.statusCode;
  response.writeHead(answered.statusCode ?? 502, endToEnd(answered.rawHeaders));
  await pipeline(answered, (source: AsyncIterable<Buffer>) => pass(exchange, source, false), response);
};

/** Reads the body, or its beginning, so that the client has sent it. */
const read = async (exchange: Exchange, limit = Infinity): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  if (limit === 0) return Buffer.alloc(0);
  const body = exchange.request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  for await (const chunk of body) {
    chunks.push(chunk);
    exchange.bytes += chunk.length;
    if (exchange.bytes >= limit) break;
  }
  return Buffer.concat(chunks);
};

/** Forwards the chunks; a `slow` fault forwards ten pieces per second. */
async function* pass(
  exchange: Exchange,
  source: AsyncIterable<Buffer>,
  isRequest: boolean,
): AsyncIterable<Buffer> {
  const fault = exchange.rule?.fault;
  for await (const chunk of source) {
    if (isRequest) exchange.bytes += chunk.length;
    if (fault?.kind !== 'slow') {
      yield chunk;
      continue;
    }
    const step = Math.max(1, Math.floor(fault.bytesPerSecond / 10));
    for (let at = 0; at < chunk.length; at += step) {
      await sleep(100);
      yield chunk.subarray(at, at + step);
    }
  }
}
