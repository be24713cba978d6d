// Credentials that may only put files.
import { expect, it } from 'vitest';
import { recordingServer } from './recording-server.ts';
import { openS3, s3Target } from './s3-target.ts';

const never = new AbortController().signal;
const keys = { accessKeyId: 'KEYID', secretAccessKey: 'SECRET' };

it.each([
  [403, 'AccessDenied'],
  [405, 'MethodNotAllowed'],
  [501, 'NotImplemented'],
])('can continue after a crash: %i %s', async (status, code) => {
  await using bucket = await recordingServer((request, response) => {
    request.once('end', () => {
      if (request.method === 'PUT') response.writeHead(200, { etag: '"x"' }).end();
      else
        response.writeHead(status, { 'content-type': 'text/xml' }).end(`<Error><Code>${code}</Code></Error>`);
    });
  });
  await using store = openS3(
    s3Target({ endpoint: `http://127.0.0.1:${bucket.port}`, keys, bucket: 'bucket' }),
    { tries: 1 },
  );
  await store.removeUnfinished('file', never);
  expect(await store.head('file', never)).toBe('unknown');
  await store.putText('file', 'text', 'text/plain', never);
  expect(bucket.requests.map(({ method }) => method)).toEqual(['GET', 'HEAD', 'PUT']);
});

it('report a missing bucket', async () => {
  await using bucket = await recordingServer((request, response) => {
    request.once('end', () =>
      response.writeHead(404, { 'content-type': 'text/xml' }).end('<Error><Code>NoSuchBucket</Code></Error>'),
    );
  });
  await using store = openS3(
    s3Target({ endpoint: `http://127.0.0.1:${bucket.port}`, keys, bucket: 'bucket' }),
    { tries: 1 },
  );
  await expect(store.removeUnfinished('file', never)).rejects.toMatchObject({ code: 'NoSuchBucket' });
});
