// The request for the built-in routes. The project's middleware runs before them, and may have read or replaced the body.
import { Problem } from '@svc/contract/problem';
import type { Body, UserContext } from './user-app.ts';

/**
 * `given`: the request that the app got. Throws when the middleware has consumed the body in another way, and a Problem when it could not
 * parse the body and nothing else has the bytes.
 */
export const innerRequest = async (context: UserContext, given: Request): Promise<Request> => {
  const { raw, bodyCache } = context.req;
  // A convention of the stock server: a middleware may set the body as a variable.
  const variable = context.get('body');
  if (variable !== undefined) return withBody(raw, variable as Body);
  const failures: unknown[] = [];
  const read = async (name: string): Promise<unknown> => {
    try {
      return await bodyCache[name];
    } catch (error) {
      failures.push(error);
      return undefined;
    }
  };
  const text = (await read('text')) ?? (await read('arrayBuffer')) ?? (await read('blob'));
  const json = await read('json');
  const form = await read('formData');
  const isRead = [form, text, json].some((value) => value !== undefined);
  const isReplaced = raw !== given && raw.body !== null;
  if (!raw.bodyUsed && (isReplaced || !isRead)) return raw;
  if (text !== undefined) return withBody(raw, text as Body);
  if (json !== undefined) return withBody(raw, JSON.stringify(json));
  if (form !== undefined) {
    // Encoded again, with another boundary between the parts.
    const encoded = new Response(form as FormData);
    return withBody(raw, encoded.body, encoded.headers.get('content-type'));
  }
  const [cause] = failures;
  if (cause instanceof Problem) throw cause;
  if (cause !== undefined) throw new Problem('bad_request', 'The request body is malformed.', { cause });
  throw new Error(
    'Middleware of http.app has consumed the body with c.req.raw; read it with c.req.json(), c.req.text() or a clone',
  );
};

const withBody = (raw: Request, body: Body, type?: string | null): Request => {
  const headers = new Headers(raw.headers);
  const hasBody = raw.method !== 'GET' && raw.method !== 'HEAD';
  const length = hasBody ? bodyLength(body) : undefined;
  if (length === undefined) headers.delete('content-length');
  else headers.set('content-length', String(length));
  headers.delete('transfer-encoding');
  if (typeof type === 'string') headers.set('content-type', type);
  const { method, url } = raw;
  return new Request(url, { method, headers, ...(hasBody ? { body: body ?? null, duplex: 'half' } : {}) });
};

/**
 * The length in bytes of a body that a Request is made of; undefined for a stream or a form. A Request does not have it among its headers,
 * and without it the memory for the largest body is reserved.
 */
export const bodyLength = (body: unknown): number | undefined => {
  if (body === null || body === undefined) return 0;
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body instanceof Blob) return body.size;
  return body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? body.byteLength : undefined;
};
