// Responses of operations: what a success has, and the errors that the server can send.
import * as z from 'zod';
import type { Components, Schema } from './openapi-components.ts';
import { problems, type ProblemCode } from './problem.ts';
import type { Routes, RouteShape } from './route.ts';

const json = 'application/json';
const events = 'text/event-stream';
const protobuf = 'application/x-protobuf';

const contentTypes = {
  json,
  deferred: json,
  rpc: json,
  sse: events,
  html: 'text/html',
  text: 'text/plain',
  file: 'application/octet-stream',
};

const bytes = { type: 'string', format: 'binary' };

/** Errors with a status of their own, whose code in the body is that of another status. */
const specific = {
  uri_too_long: { status: 414, title: 'The URL is longer than 8,192 characters' },
  upgrade_required: { status: 426, title: 'Not the handshake of a WebSocket' },
  headers_too_large: {
    status: 431,
    title: 'The request line and headers are larger than 16 KB, or the request has more than 256 headers',
  },
} as const;

const failures = { ...problems, ...specific };
type Failure = keyof typeof failures;

/** Errors of any operation: the server rejects the request before it is routed, or fails. */
const everywhere: readonly Failure[] = [
  'bad_request',
  'uri_too_long',
  'headers_too_large',
  'internal',
  'unavailable',
];

const mayRetry: ReadonlySet<Failure> = new Set(['rate_limited', 'unavailable']);

const ref = (kind: 'schemas' | 'responses', name: string): Schema => ({
  $ref: `#/components/${kind}/${name}`,
});

const responseOf = (failure: Failure): Schema => ({
  description: failures[failure].title,
  ...(mayRetry.has(failure)
    ? {
        headers: {
          'Retry-After': {
            description: 'Seconds after which the request may be repeated',
            schema: { type: 'string' },
          },
        },
      }
    : {}),
  content: { [json]: { schema: ref('schemas', 'Problem') } },
});

const isGuarded = ({ method, access, kind, changes }: RouteShape): boolean =>
  access !== 'public' || method !== 'get' || changes !== undefined || kind === 'sse' || kind === 'deferred';

const failuresOf = (route: RouteShape): Failure[] => {
  const { access, body, params, query, upload, kind, errors = [] } = route;
  const all = new Set<Failure>([...everywhere, ...(errors as ProblemCode[])]);
  if (access !== 'public') all.add('unauthenticated').add('rate_limited');
  // Pages of other origins are refused too.
  if (isGuarded(route)) all.add('forbidden');
  // The header with the workspace may be no id.
  const namesWorkspace = typeof access === 'object' && 'permission' in access;
  if (body || params || query || namesWorkspace) all.add('invalid');
  if (body || upload) all.add('too_large').add('unsupported_media_type');
  if (kind === 'socket') all.add('upgrade_required');
  return [...all].toSorted((a, b) => failures[a].status - failures[b].status);
};

/** An error of an operation of JSON-RPC: before the caller is known it looks as everywhere, later it is a JSON-RPC response. */
const rpcFailure = (failure: Failure): Schema => ({
  ...responseOf(failure),
  content: { [json]: { schema: { anyOf: [ref('schemas', 'Problem'), ref('schemas', 'RpcError')] } } },
});

const statusOf = ({ kind, status = 200 }: RouteShape): number => {
  if (kind === 'socket') return 101;
  return kind === 'redirect' ? 303 : status;
};

/** Whether the request can name the fields of the response. */
const hasSelect = ({ body, query }: RouteShape): boolean =>
  [body, query].some((schema) => schema instanceof z.ZodObject && 'select' in schema.shape);

const anEvent = ref('schemas', 'ServerSentEvent');

const contentOf = (route: RouteShape, schema: Schema): Schema => {
  const { kind = 'json', upload, requestHeaders } = route;
  const sendsEvents = kind === 'rpc' || requestHeaders?.['accept']?.includes(events) === true;
  const ofKind = kind === 'sse' ? anEvent : kind === 'file' ? bytes : schema;
  return {
    [contentTypes[kind as keyof typeof contentTypes]]: { schema: ofKind },
    // A file has a content type of its own. Generators of clients do not know this range, and use the first type.
    ...(kind === 'file' ? { '*/*': { schema: bytes } } : {}),
    ...(sendsEvents ? { [events]: { schema: anEvent } } : {}),
    ...(upload?.includes(protobuf) === true ? { [protobuf]: { schema: {} } } : {}),
  };
};

const success = (route: RouteShape, components: Components): Schema => {
  if (route.kind === 'socket') return { description: 'The connection is a WebSocket' };
  if (route.kind === 'redirect') {
    const location = { description: 'Where the browser goes on', schema: { type: 'string' } };
    return { description: 'See Location', headers: { Location: location } };
  }
  const headers = Object.fromEntries(
    Object.entries(route.headers ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  );
  const response = {
    description: route.status === 204 ? 'Done' : 'Success',
    ...(route.headers ? { headers } : {}),
  };
  if (route.status === 204) return response;
  const schema = components.of(route.response, 'output');
  return {
    ...response,
    content: contentOf(route, hasSelect(route) ? components.selection(schema) : schema),
  };
};

/** The responses of an operation, by status. */
export const responsesOf = (route: RouteShape, components: Components): Record<string, Schema> => ({
  [statusOf(route)]: success(route, components),
  ...(route.empty === undefined ? {} : { [route.kind === 'rpc' ? 202 : 204]: { description: route.empty } }),
  ...Object.fromEntries(
    failuresOf(route).map((failure) => [
      failures[failure].status,
      route.kind === 'rpc' ? rpcFailure(failure) : ref('responses', failure),
    ]),
  ),
});

/** The responses to which operations refer, by name. */
export const sharedResponses = (routes: Routes): Record<string, Schema> => {
  const used = new Set(Object.values(routes).flatMap(failuresOf));
  return Object.fromEntries([...used].toSorted().map((failure) => [failure, responseOf(failure)]));
};
