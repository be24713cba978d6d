// Response headers that do not depend on the request.
const everywhere = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
};

const apiHeaders = {
  ...everywhere,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

export const jsonHeaders = { 'content-type': 'application/json', ...apiHeaders };

export const textHeaders = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', ...apiHeaders };

export const emptyHeaders = apiHeaders;

export const htmlHeaders = {
  'content-type': 'text/html; charset=utf-8',
  ...everywhere,
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

/** `X-Accel-Buffering` keeps nginx from collecting events before it passes them on. */
export const sseHeaders = {
  'content-type': 'text/event-stream',
  ...apiHeaders,
  'x-accel-buffering': 'no',
};

/** The response with these headers, which replace those of the same name. Headers of a response of fetch() cannot be changed: it is copied. */
export const withHeaders = (response: Response, added: Readonly<Record<string, string>>): Response => {
  const entries = Object.entries(added);
  if (entries.length === 0) return response;
  try {
    for (const [name, value] of entries) response.headers.set(name, value);
    return response;
  } catch {
    const headers = new Headers(response.headers);
    for (const [name, value] of entries) headers.set(name, value);
    const { status, statusText } = response;
    return new Response(response.body, { status, statusText, headers });
  }
};

/** The value of a `Vary` header with the names of these values, each once. */
export const joinVary = (...values: (number | string | readonly string[] | null | undefined)[]): string => {
  const names = new Map<string, string>();
  for (const value of values)
    for (const part of (value ?? '').toString().split(',')) {
      const name = part.trim();
      const key = name.toLowerCase();
      if (name !== '' && !names.has(key)) names.set(key, name);
    }
  return [...names.values()].join(', ');
};
