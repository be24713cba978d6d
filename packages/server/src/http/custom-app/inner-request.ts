// The request that the built-in routes get after the project's middleware, which may have read or replaced the body.
import { bodyLength } from '../body/body-length.ts';
import type { Body, UserContext } from './user-app.ts';

/** `given`: the request that the app got. Throws when the middleware has consumed the body. */
export const innerRequest = async (context: UserContext, given: Request): Promise<Request> => {
  const { raw, bodyCache } = context.req;
  // A convention of the stock server: a middleware may set the body as a variable.
  const variable = context.get('body');
  if (variable !== undefined) return withBody(raw, variable as Body);
  const form = await bodyCache['formData'];
  const text = (await bodyCache['text']) ?? (await bodyCache['arrayBuffer']) ?? (await bodyCache['blob']);
  const json = await bodyCache['json'];
  const isRead = [form, text, json].some((value) => value !== undefined);
  const isReplaced = raw !== given && raw.body !== null;
  if (!raw.bodyUsed && (isReplaced || !isRead)) return raw;
  if (text !== undefined) return withBody(raw, text as Body);
  if (json !== undefined) return withBody(raw, JSON.stringify(json));
  if (form === undefined)
    throw new Error(
      'Middleware of http.app has consumed the body with c.req.raw; read it with c.req.json(), c.req.text() or a clone',
    );
  // Encoded again, with another boundary between the parts.
  const encoded = new Response(form as FormData);
  return withBody(raw, encoded.body, encoded.headers.get('content-type'));
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
