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
