// An operation of the API as plain data. Validation, the types of handlers, the OpenAPI document and the SDK are derived from it.
import * as z from 'zod';
import { closed, type IgnoredKeys, type UnsupportedKeys } from './closed.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** What a key may do in its workspace: send traces, read, change objects, manage workspaces and keys. */
export type Permission = 'ingest' | 'read' | 'write' | 'admin';

/**
 * Who may call an operation: everybody (`public`), every authenticated caller (`caller`), keys with a permission (platform API), or callers that the
 * auth handler allows one of the actions on the resource (deployment API).
 */
export type RoutePermission =
  | 'public'
  | 'caller'
  | { permission: Permission }
  | { resource: 'assistants' | 'threads' | 'crons' | 'store'; action: string | readonly string[] };

export interface RouteShape {
  method: Method;
  /** Path with `:name` segments; every name appears in `params`. */
  path: `/${string}`;
  /** Other paths of the same operation. */
  aliases?: readonly `/${string}`[];
  /** A sentence without its full stop. */
  summary: string;
  /** More sentences, where the summary is not enough. */
  description?: string;
  tag: string;
  access: RoutePermission;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /**
   * Keys that stock clients send and that this operation does not use. All other unknown keys are refused, except in uploads and in
   * objects that are declared free-form.
   */
  ignored?: { body?: IgnoredKeys; query?: IgnoredKeys };
  /** Filters that stock clients can send and that this operation does not have. They are refused unless they are empty. */
  unsupported?: { body?: UnsupportedKeys; query?: UnsupportedKeys };
  /** Members of a large body that the handler receives as JSON text, because it only stores or forwards them. */
  textFields?: readonly string[];
  /**
   * Parts of the body that may have any string, as paths (`*`: any index): they are stored as JSON text, which has NUL and half of a surrogate
   * pair as escapes. Everywhere else these characters are refused.
   */
  anyText?: readonly string[];
  /** Content types of a body that the handler reads as a stream of bytes, compressed or not. Replaces `body`. */
  upload?: readonly string[];
  /** The error for a body that does not match the schema, where a protocol defines it; `invalid` when absent. */
  malformed?: 'bad_request';
  /** True when a request without a body is the same as one with an empty object. */
  bodyOptional?: boolean;
  response: z.ZodType;
  /** Status of a success; 200 when absent. 204 carries no body. */
  status?: 200 | 202 | 204;
  /** When a success has no body, and the status 204 (`rpc`: 202) instead of its own. */
  empty?: string;
  /**
   * How the response is sent: `json` (default); `sse`, a stream of server-sent events; `deferred`, JSON whose headers are sent at once and
   * whose body follows when a run ends (newlines keep the connection alive until then);
   * `rpc`, a JSON-RPC response, as deferred JSON, as a stream of events, or without a body with status 202; errors are JSON-RPC responses too;
   * `html`, a page; `text`, plain text; `file`, bytes with a content type of their own; `socket`, the handshake of a WebSocket;
   * `redirect`, status 303 and the address at which a browser goes on.
   */
  kind?: 'json' | 'sse' | 'deferred' | 'rpc' | 'html' | 'text' | 'file' | 'socket' | 'redirect';
  /**
   * For a GET that changes something, which pages of other origins must not send: always, or when this query parameter is true.
   */
  changes?: 'always' | { when: string };
  /** Name of the action in the audit log: what was changed, and how. Without it, requests of the route are not audited. */
  audited?: `${string}.${'create' | 'change' | 'delete' | 'prune' | 'revoke'}`;
  /** Request headers worth documenting: name to description. */
  requestHeaders?: Record<string, string>;
  /** Response headers worth documenting: name to description. */
  headers?: Record<string, string>;
  /** Error codes of this operation, in addition to those that every operation can return. */
  errors?: readonly string[];
}

type RouteDetails = Omit<RouteShape, 'method' | 'path' | 'tag'>;

/** Routes with a tag. Their bodies and queries are closed. Uploads take any query, because tracers of many kinds send them. */
export const routesOf =
  (tag: string) =>
  <const M extends Method, const P extends `/${string}`, const R extends RouteDetails>(
    method: M,
    path: P,
    details: R,
  ): R & { method: M; path: P; tag: string } => {
    const { body, query, upload, ignored, unsupported } = details;
    const isOpen = upload !== undefined && query === undefined;
    return {
      method,
      path,
      tag,
      ...details,
      ...(body ? { body: closed(body, ignored?.body, unsupported?.body) } : {}),
      ...(isOpen ? {} : { query: closed(query ?? z.object({}), ignored?.query, unsupported?.query) }),
    };
  };

type Output<T, Absent> = T extends z.ZodType ? z.output<T> : Absent;

/** What a handler receives: parsed and validated, defaults filled in. */
export interface RouteInput<R extends RouteShape> {
  params: Output<R['params'], Record<string, never>>;
  query: Output<R['query'], Record<string, never>>;
  body: R['upload'] extends readonly string[] ? AsyncIterable<Uint8Array> : Output<R['body'], undefined>;
}

/** Query values as a client writes them: the text that is sent, or the value that the server reads from it. */
type Query<Q extends z.ZodObject> = {
  [K in keyof z.input<Q>]: z.input<Q>[K] | z.output<Q>[K & keyof z.output<Q>] | undefined;
};

/** The JSON body that a client sends; the schemas do not describe uploads. */
type Body<R extends RouteShape> = R['body'] extends z.ZodType
  ? z.input<R['body']>
  : R['upload'] extends readonly string[]
    ? unknown
    : undefined;

/** What a client passes to call a route: path parameters, query and body before defaults. */
export type CallInput<R extends RouteShape> = (R['params'] extends z.ZodObject
  ? { params: z.input<R['params']> }
  : { params?: undefined }) &
  (R['query'] extends z.ZodObject ? { query?: Query<R['query']> } : { query?: undefined }) &
  (undefined extends Body<R> ? { body?: Body<R> } : { body: Body<R> });

export type RouteOutput<R extends RouteShape> = z.output<R['response']>;

export type Routes = Record<string, RouteShape>;
