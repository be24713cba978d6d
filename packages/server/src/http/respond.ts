import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { RouteShape } from '@svc/contract';
import { type Late, RawBytes, RawJson, Reply, type SseBody } from '../api/handlers.ts';
import type { HttpContext, RequestCall } from './call.ts';
import { emptyHeaders, htmlHeaders, jsonHeaders, sseHeaders, textHeaders } from './headers.ts';
import { type LateOptions, sendLate, textIfSoon } from './late.ts';
import type { HttpLogger } from './problem.ts';
import { eventsBody, type SseOptions, streamEvents } from './sse.ts';
import { countUnsent, type UnsentOptions } from './unsent.ts';

export interface ResponseOptions {
  sse: SseOptions;
  late: LateOptions;
  unsent: UnsentOptions;
  logger: HttpLogger;
}

/** What a handler answered, as a response. A stream is under way when this returns. */
export const respond = async (
  route: RouteShape,
  answer: unknown,
  context: HttpContext,
  call: RequestCall,
  options: ResponseOptions,
): Promise<Response> => {
  const reply = answer instanceof Reply ? (answer as Reply<unknown>) : undefined;
  const value = reply === undefined ? answer : reply.value;
  const status = reply?.status ?? route.status ?? 200;
  const request = { requestId: call.requestId, logger: options.logger };
  const out = context.env?.outgoing;

  switch (route.kind ?? 'json') {
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
    case 'late': {
      const late = value as Late;
      const text = out === undefined ? await late.text : await textIfSoon(late, options.late.patienceMs);
      countUnsent(out, text?.length ?? 0, options.unsent);
      if (text !== undefined || out === undefined)
        return new Response(text ?? '', { status, headers: withHeaders(jsonHeaders, call, reply) });
      out.writeHead(status, withHeaders(jsonHeaders, call, reply));
      sendLate(out, late, options.late.newlineMs, {
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
      if (status === 204)
        return new Response(null, { status, headers: withHeaders(emptyHeaders, call, reply) });
      if (value instanceof RawBytes) {
        countUnsent(out, value.bytes.byteLength, options.unsent);
        const headers = { ...withHeaders(jsonHeaders, call, reply), 'content-type': value.content_type };
        return new Response(value.bytes, { status, headers });
      }
      const text = value instanceof RawJson ? value.text : (JSON.stringify(value) ?? 'null');
      countUnsent(out, text.length, options.unsent);
      return new Response(text, { status, headers: withHeaders(jsonHeaders, call, reply) });
    }
  }
};

const withHeaders = (
  base: Record<string, string>,
  call: RequestCall,
  reply: Reply<unknown> | undefined,
): Record<string, string> => ({ ...base, 'x-request-id': call.requestId, ...reply?.headers });
