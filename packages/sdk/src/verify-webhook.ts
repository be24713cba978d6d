// For receivers of webhooks: whether a request came from the server that shares the secret, and lately.

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/**
 * Whether `header` (`svc-signature`) signs `body`, the request's body as it came: not parsed and written again.
 * A signature older or newer than `toleranceSeconds` does not count, so that a copied request cannot be sent again later.
 * @example if (!(await verifyWebhook(secret, request.headers.get('svc-signature'), await request.text()))) return new Response(null, { status: 401 });
 */
export const verifyWebhook = async (
  secret: string,
  header: string | null | undefined,
  body: string,
  toleranceSeconds = 300,
): Promise<boolean> => {
  const match = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '');
  const [, seconds = '', hex = ''] = match ?? [];
  if (!match || Math.abs(Date.now() / 1_000 - Number(seconds)) > toleranceSeconds) return false;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes(secret), algorithm, false, ['verify']);
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  // Takes the same time wherever the two differ.
  return crypto.subtle.verify('HMAC', key, signature, bytes(`${seconds}.${body}`));
};
