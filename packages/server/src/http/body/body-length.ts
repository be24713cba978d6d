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
