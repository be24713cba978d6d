import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { ServerResponse } from 'node:http';
import type { RouteShape } from '@svc/contract';
import {
  DeferredResponse,
  EventStreamResponse,
  RawBytes,
  RawJson,
  Reply,
  type ReplyFacts,
  type SseBody,
} from '../../api/handlers.ts';
import { type JsonPart, textOf } from '../../parsing/json-bytes.ts';
import type { HttpContext, RequestCall } from './call.ts';
import { emptyHeaders, htmlHeaders, jsonHeaders, sseHeaders, textHeaders } from '../server/headers.ts';
import { type DeferredOptions, sendDeferred, textIfSoon } from '../streams/deferred.ts';
import type { HttpLogger } from '../server/problem.ts';
import { eventsBody, type SseOptions, streamEvents } from '../streams/sse.ts';
import { countUnsent, type UnsentOptions } from '../streams/unsent.ts';

export interface ResponseOptions {
  sse: SseOptions;
  deferred: DeferredOptions;
  unsent: UnsentOptions;
  logger: HttpLogger;
}

/** Converts the result of a handler to a response. A stream has begun when this returns. */
export const respond = async (
  route: RouteShape,
  answer: unknown,
  context: HttpContext,
  call: RequestCall,
  options: ResponseOptions,
): Promise<Response> => {
  const reply = answer instanceof Reply ? (answer as Reply<unknown>) : undefined;
  const value = reply === undefined ? answer : reply.value;
  const kind = route.kind === 'rpc' ? rpcKind(value) : (route.kind ?? 'json');
  const empty = route.kind === 'rpc' ? 202 : 204;
  const status = reply?.facts.isEmpty === true ? empty : (route.status ?? 200);
  const request = { requestId: call.requestId, logger: options.logger };
  const out = context.env?.outgoing;

  switch (kind) {
    case 'sse': {
      const headers = withHeaders(sseHeaders, call, reply);
      const body = value as SseBody;
      if (out === undefined) {
        return new Response(eventsBody(body, options.sse, request) as ReadableStream, { status, headers });
      }
      out.writeHead(status, headers);
      streamEvents(out, body, options.sse, request);
      return RESPONSE_ALREADY_SENT;
    }
    case 'deferred': {
      const deferred = value as DeferredResponse;
      const text =
        out === undefined ? await deferred.text : await textIfSoon(deferred, options.deferred.waitMs);
      countUnsent(out, text?.length ?? 0, options.unsent);
      if (text !== undefined || out === undefined)
        return new Response(text ?? '', { status, headers: withHeaders(jsonHeaders, call, reply) });
      out.writeHead(status, withHeaders(jsonHeaders, call, reply));
      sendDeferred(out, deferred, options.deferred.newlineMs, {
        ...request,
        onText: (sent) => countUnsent(out, sent.length, options.unsent),
      });
      return RESPONSE_ALREADY_SENT;
    }
    case 'html':
      return new Response(value as string, { status, headers: withHeaders(htmlHeaders, call, reply) });
    case 'text':
      return new Response(value as string, { status, headers: withHeaders(textHeaders, call, reply) });
    case 'json': {
      if (reply?.facts.isEmpty === true)
        return new Response(null, { status, headers: withHeaders(emptyHeaders, call, reply) });
      if (value instanceof RawBytes) {
        countUnsent(out, value.bytes.byteLength, options.unsent);
        const headers = { ...withHeaders(jsonHeaders, call, reply), 'content-type': value.content_type };
        return new Response(value.bytes, { status, headers });
      }
      const parts = value instanceof RawJson ? value.parts : [JSON.stringify(value) ?? 'null'];
      const chars = parts.reduce((sum, part) => sum + part.length, 0);
      countUnsent(out, chars, options.unsent);
      const headers = withHeaders(jsonHeaders, call, reply);
      if (out === undefined || chars < partedCharsMin)
        return new Response(parts.map(textOf).join(''), { status, headers });
      sendParts(out, parts, status, headers);
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

/** Sends the parts of a long text one after the other. Joined, they would be in memory twice more: as one string, and as its bytes. */
const sendParts = (
  out: ServerResponse,
  parts: readonly JsonPart[],
  status: number,
  headers: Record<string, string>,
): void => {
  const bytes = parts.reduce(
    (sum, part) => sum + (typeof part === 'string' ? Buffer.byteLength(part) : part.length),
    0,
  );
  out.writeHead(status, { ...headers, 'content-length': String(bytes) });
  out.cork();
  for (const part of parts)
    for (const piece of typeof part === 'string' ? [part] : part.blocks) out.write(piece);
  out.end();
};

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
  const { self, continuation, total, next, isCut, contentPolicy, session } = facts;
  return {
    ...(self === undefined ? {} : { 'content-location': self }),
    ...(continuation === undefined ? {} : { location: continuation }),
    ...(total === undefined ? {} : { 'x-pagination-total': String(total) }),
    ...(next === undefined ? {} : { 'x-pagination-next': String(next) }),
    ...(isCut === true ? { 'x-pagination-limited-by': 'bytes' } : {}),
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
    ...(contentPolicy === undefined ? {} : { 'content-security-policy': contentPolicy }),
  };
};
