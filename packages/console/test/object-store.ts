// A store with the S3 API for tests: it keeps objects in memory, and refuses writes on demand with the errors of real stores.
import { text } from 'node:stream/consumers';
import { listen, type Receiver } from './receiver.ts';

export interface Refusal {
  status: number;
  code: string;
  message: string;
}

/** An error for which exports are retried, and which the S3 client does not retry by itself. */
export const quotaExceeded: Refusal = {
  status: 403,
  code: 'QuotaExceeded',
  message: 'The bucket has 20 of 20 GB.',
};

export interface ObjectStore extends Receiver {
  /** Every write is refused until this is undefined. */
  refusal: Refusal | undefined;
}

export const startObjectStore = async (): Promise<ObjectStore> => {
  const objects = new Map<string, string>();
  const state: { refusal: Refusal | undefined } = { refusal: undefined };
  const receiver = await listen((request, response) => {
    const { pathname: key, searchParams } = new URL(request.url ?? '/', 'http://store');
    const respond = async (): Promise<void> => {
      const body = await text(request);
      const stored = objects.get(key);
      response.setHeader('x-amz-request-id', 'TESTREQUEST');
      if (request.method === 'PUT' && state.refusal) {
        const { status, code, message } = state.refusal;
        response.writeHead(status, { 'content-type': 'application/xml' });
        response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`);
      } else if (request.method === 'GET' && searchParams.has('uploads')) {
        response.writeHead(200, { 'content-type': 'application/xml' });
        response.end('<?xml version="1.0"?><ListMultipartUploadsResult></ListMultipartUploadsResult>');
      } else if (request.method === 'PUT') {
        const isTaken = request.headers['if-none-match'] === '*' && stored !== undefined;
        if (!isTaken) objects.set(key, body);
        response.writeHead(isTaken ? 412 : 200, { etag: '"tested"' }).end();
      } else if (request.method === 'DELETE') {
        objects.delete(key);
        response.writeHead(204).end();
      } else if (stored === undefined) response.writeHead(404).end();
      else {
        response.writeHead(200, { etag: '"tested"', 'content-length': Buffer.byteLength(stored) });
        response.end(request.method === 'HEAD' ? undefined : stored);
      }
    };
    respond().catch(() => response.destroy()); // the client has closed the connection
  });
  return Object.assign(state, receiver);
};
