// For receivers of webhooks: checks that a request was signed with the shared secret, and recently.

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/**
 * True when `header` (`svc-signature`) is a valid signature of `body`, the unparsed text of the request's body.
 * A signature whose time differs by more than `toleranceSeconds` is invalid, so that a copied request cannot be sent again later.
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
  // Compares in constant time.
  return crypto.subtle.verify('HMAC', key, signature, bytes(`${seconds}.${body}`));
};
