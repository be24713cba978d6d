import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { RouteShape } from '@svc/contract';
import {
  DeferredResponse,
  EventStreamResponse,
  RawBytes,
  RawJson,
  Reply,
  type ReplyCookie,
  type ReplyFacts,
  type SseBody,
} from '../../api/handlers.ts';
import type { SocketResponse } from '../../api/sockets.ts';
import { type JsonPart, textOf } from '../../parsing/json-bytes.ts';
import type { RequestCall } from './call.ts';
import { emptyHeaders, htmlHeaders, jsonHeaders, sseHeaders, textHeaders } from '../server/headers.ts';
import { within } from '../../backoff.ts';
import { type HttpLogger, logProblem, toProblem } from '../server/problem.ts';
import { handshakeNeeded, type Upgrades } from '../sockets/upgrades.ts';
import {
  countUnsent,
  openBody,
  partsBody,
  type UnsentOptions,
  writeParts,
} from '../streams/response-body.ts';
import { type SseOptions, streamEvents } from '../streams/sse.ts';
import type { Writable } from 'node:stream';

export interface ResponseOptions {
  sse: SseOptions;
  deferred: DeferredOptions;
  unsent: UnsentOptions;
  logger: HttpLogger;
  /** Without it there are no WebSockets. */
  upgrades?: Upgrades | undefined;
}

/** Converts the result of a handler to a response. A stream has begun when this returns. */
export const respond = async (
  route: RouteShape,
  answer: unknown,
  call: RequestCall,
  options: ResponseOptions & { renew: () => Promise<RequestCall> },
): Promise<Response> => {
  const reply = answer instanceof Reply ? (answer as Reply<unknown>) : undefined;
  const value = reply === undefined ? answer : reply.value;
  const kind = route.kind === 'rpc' ? rpcKind(value) : (route.kind ?? 'json');
  const empty = route.kind === 'rpc' ? 202 : 204;
  const status = reply?.facts.isEmpty === true ? empty : (route.status ?? 200);
  const request = { requestId: call.requestId, logger: options.logger };
  const { outgoing, ownOutgoing } = call;

  switch (kind) {
    case 'sse': {
      const headers = withHeaders(sseHeaders, call, reply);
      const body = value as SseBody;
      if (ownOutgoing === undefined) {
        const { through, readable } = openBody(call);
        streamEvents(through, body, options.sse, request);
        return new Response(readable, { status, headers });
      }
      ownOutgoing.writeHead(status, headers);
      streamEvents(ownOutgoing, body, options.sse, request);
      return RESPONSE_ALREADY_SENT;
    }
    case 'deferred': {
      const deferred = value as DeferredResponse;
      // A text that fails within that time is an error with a status.
      const text = await within(deferred.text, options.deferred.waitMs, () => undefined);
      const headers = withHeaders(jsonHeaders, call, reply);
      countUnsent(outgoing, text?.length ?? 0, options.unsent);
      if (text !== undefined) return new Response(text, { status, headers });
      const onText = (sent: string): void => countUnsent(outgoing, sent.length, options.unsent);
      const sending = { ...request, onText };
      if (ownOutgoing === undefined) {
        const { through, readable } = openBody(call);
        sendDeferred(through, deferred, options.deferred.newlineMs, sending);
        return new Response(readable, { status, headers });
      }
      ownOutgoing.writeHead(status, headers);
      sendDeferred(ownOutgoing, deferred, options.deferred.newlineMs, sending);
      return RESPONSE_ALREADY_SENT;
    }
    case 'socket': {
      if (outgoing === undefined || options.upgrades === undefined) throw handshakeNeeded();
      options.upgrades.accept(outgoing, value as SocketResponse, { ...request, renew: options.renew });
      return RESPONSE_ALREADY_SENT;
    }
    case 'redirect': {
      const headers = { ...withHeaders(emptyHeaders, call, reply), location: value as string };
      return new Response(null, { status: 303, headers });
    }
    case 'html':
      return new Response(value as string, { status, headers: withHeaders(htmlHeaders, call, reply) });
    case 'text':
      return new Response(value as string, { status, headers: withHeaders(textHeaders, call, reply) });
    case 'file':
    case 'json': {
      if (reply?.facts.isEmpty === true || status === 204)
        return new Response(null, { status, headers: withHeaders(emptyHeaders, call, reply) });
      if (value instanceof RawBytes) {
        countUnsent(outgoing, value.bytes.byteLength, options.unsent);
        const headers = { ...withHeaders(jsonHeaders, call, reply), 'content-type': value.content_type };
        return new Response(value.bytes, { status, headers });
      }
      const parts = value instanceof RawJson ? value.parts : [JSON.stringify(value) ?? 'null'];
      const chars = parts.reduce((sum, part) => sum + part.length, 0);
      countUnsent(outgoing, chars, options.unsent);
      const headers = withHeaders(jsonHeaders, call, reply);
      if (chars < partedCharsMin) return new Response(parts.map(textOf).join(''), { status, headers });
      const parted = { ...headers, 'content-length': String(byteLength(parts)) };
      if (ownOutgoing === undefined) return new Response(partsBody(parts), { status, headers: parted });
      ownOutgoing.writeHead(status, parted);
      writeParts(ownOutgoing, parts);
      return RESPONSE_ALREADY_SENT;
    }
  }
};

const rpcKind = (value: unknown): 'sse' | 'deferred' | 'json' => {
  if (value instanceof EventStreamResponse) return 'sse';
  return value instanceof DeferredResponse ? 'deferred' : 'json';
};

/** Shorter texts are sent as one string. */
const partedCharsMin = 1_048_576;

const byteLength = (parts: readonly JsonPart[]): number =>
  parts.reduce((sum, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) : part.length), 0);

const withHeaders = (
  base: Record<string, string>,
  call: RequestCall,
  reply: Reply<unknown> | undefined,
): Record<string, string> => ({
  ...base,
  'x-request-id': call.requestId,
  ...(reply ? headersOf(reply.facts) : {}),
});

const headersOf = (facts: ReplyFacts): Record<string, string> => {
  const { self, continuation, total, next, cursor, limitedBy, session, isDownload, cacheControl, cookie } =
    facts;
  return {
    ...(self === undefined ? {} : { 'content-location': self }),
    ...(continuation === undefined ? {} : { location: continuation }),
    ...(total === undefined ? {} : { 'x-pagination-total': String(total) }),
    ...(next === undefined ? {} : { 'x-pagination-next': String(next) }),
    ...(cursor === undefined ? {} : { 'x-pagination-cursor': cursor }),
    ...(limitedBy === undefined ? {} : { 'x-pagination-limited-by': limitedBy }),
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
    ...(isDownload === true ? { 'content-disposition': 'attachment' } : {}),
    ...(cacheControl === undefined ? {} : { 'cache-control': cacheControl }),
    ...(cookie === undefined ? {} : { 'set-cookie': cookieText(cookie) }),
  };
};

const cookieText = ({ name, value, maxAgeSeconds, isSecure, isSentFromOtherSites }: ReplyCookie): string => {
  const site = isSentFromOtherSites === true ? 'Lax' : 'Strict';
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${site}${isSecure ? '; Secure' : ''}`;
};

// Sends JSON that is available when a run ends. If that is soon, the response is an ordinary one. Otherwise the head is sent early,
// followed by newlines (whitespace before JSON), so that no proxy closes the connection as idle.

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
