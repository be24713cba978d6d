// The response of an object store to a rejected request: shown with its code and request id, without secrets.
import { S3Config } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../src/s3/service-answer.ts';
import { findReason } from '../../src/s3/s3-reasons.ts';
import { probe } from '../../src/exports/destinations/probe.ts';
import { recordingServer } from './recording-server.ts';
import { openS3, s3Target } from './s3-target.ts';

const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

const refusing = (status: number, body: string, headers: Record<string, string> = {}) =>
  recordingServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/xml', ...headers });
    response.end(body);
  });

const xml = (code: string, message: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`;

const put = async (port: number): Promise<string> => {
  const target = s3Target({ endpoint: `http://127.0.0.1:${port}`, keys, bucket: 'traces' });
  await using store = openS3(target, { tries: 1 });
  const failure = store.putText('key', 'x', 'text/plain', new AbortController().signal);
  return failure.then(
    () => 'it was taken',
    (error: unknown) => (error as Error).message,
  );
};

describe('the error response of an object store', () => {
  it('is shown with its code, its message and the request id', async () => {
    const sentence =
      'User: arn:aws:iam::123456789012:user/exports is not authorized to perform: s3:PutObject on resource: arn:aws:s3:::traces/a/key';
    await using service = await refusing(403, xml('AccessDenied', sentence), {
      'x-amz-request-id': '4442587FB7D0A2F9',
    });
    expect(await put(service.port)).toContain(
      `The service answered AccessDenied: "${sentence}" (request 4442587FB7D0A2F9).`,
    );
  });

  it('is shown when its code is unknown', async () => {
    await using service = await refusing(409, xml('ObjectLocked', 'Retention is on until 2031'));
    expect(await put(service.port)).toContain(
      'The service answered ObjectLocked: "Retention is on until 2031" (request 4442587FB7D0A2F9).',
    );
  });

  it('is shown as a status when it has no body', async () => {
    await using service = await refusing(403, '', { 'x-amz-request-id': 'tx00000a-0066-1f-default' });
    expect(await put(service.port)).toMatch(
      /The service answered \S.*\(request tx00000a-0066-1f-default\)\.$/,
    );
  });

  it('of a proxy, 404 without an error of S3, and a name that is gone from DNS are outages', async () => {
    for (const [type, body] of [
      ['text/html', '<html><body><h1>404 Not Found</h1></body></html>'],
      ['text/plain', ''],
      ['text/plain', 'default backend - 404'],
    ] as const) {
      await using proxy = await refusing(404, body, { 'content-type': type });
      const target = s3Target({ endpoint: `http://127.0.0.1:${proxy.port}`, keys, bucket: 'traces' });
      await using store = openS3(target, { tries: 1 });
      const failure = store.putText('key', 'x', 'text/plain', new AbortController().signal);
      await expect(failure).rejects.toMatchObject({ code: 'ProxyNotFound', isFinal: false });
      await expect(failure).rejects.toThrow(/as a proxy does.* The service answered status 404/);
    }
    await using service = await refusing(404, xml('NoSuchBucket', 'It is gone'));
    const target = s3Target({ endpoint: `http://127.0.0.1:${service.port}`, keys, bucket: 'traces' });
    await using store = openS3(target, { tries: 1 });
    await expect(store.putText('key', 'x', 'text/plain', new AbortController().signal)).rejects.toMatchObject(
      { code: 'NoSuchBucket', isFinal: true },
    );
    expect(findReason('ENOTFOUND', undefined).isFinal).toBe(false);
  });

  it('decides which names of buckets and regions it allows', async () => {
    for (const [bucket, region] of [
      ['my_traces', 'RegionOne'],
      ['My-Traces', 'us-east-1'],
    ] as const) {
      const config = { bucket_name: bucket, region, endpoint_url: 'http://127.0.0.1:1' };
      expect(S3Config.parse(config)).toMatchObject({ bucket_name: bucket, region });
      await using service = await recordingServer();
      const parts = { endpoint: `http://127.0.0.1:${service.port}`, keys, bucket };
      await using store = openS3(s3Target(parts, { region }), { tries: 1 });
      await store.putText('key', 'x', 'text/plain', new AbortController().signal);
      expect(service.requests[0]?.url).toMatch(new RegExp(`^/${bucket}/`));
      expect(service.requests[0]?.headers.authorization).toContain(`/${region}/s3/`);
    }
    for (const bucket_name of ['', '..', 'a/b', 'a b', 'a?b', 'a..b'])
      expect(S3Config.safeParse({ bucket_name }).success).toBe(false);
  });

  it("is in the result of a destination's test", async () => {
    await using service = await refusing(403, xml('InvalidAccessKeyId', 'No such key: AKIDEXAMPLE'));
    const target = s3Target({ endpoint: `http://127.0.0.1:${service.port}`, keys, bucket: 'traces' });
    await using store = openS3(target, { tries: 1 });
    const { steps } = await probe(store, { signal: new AbortController().signal });
    expect(steps.find(({ name }) => name === 'put')).toMatchObject({
      ok: false,
      code: 'InvalidAccessKeyId',
      message: expect.stringContaining(
        'The service answered InvalidAccessKeyId: "No such key: [redacted]" (request 4442587FB7D0A2F9).',
      ) as string,
    });
  });

  it('that repeats the secrets of the request is shown without them', async () => {
    const service = await recordingServer((request, response) => {
      const { authorization = '' } = request.headers;
      const echo = `Bad ${authorization} for ${keys.secretAccessKey} and ${keys.accessKeyId}`;
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end(xml('SignatureDoesNotMatch', echo));
    });
    await using _ = service;
    const shown = await put(service.port);
    const [, signature = ''] = /Signature=(\w+)/.exec(service.requests[0]?.headers.authorization ?? '') ?? [];
    expect(signature).toHaveLength(64);
    for (const secret of [keys.accessKeyId, keys.secretAccessKey, signature])
      expect(shown).not.toContain(secret);
    expect(shown).toContain('The service answered SignatureDoesNotMatch: "Bad');
  });

  it('of another service is not shown', async () => {
    await using service = await recordingServer((_, response) => {
      response.writeHead(403, { 'content-type': 'text/html' });
      response.end('<html><body>internal page: hunter2</body></html>');
    });
    expect(await put(service.port)).not.toContain('hunter2');
  });
});

describe('a message of a third party', () => {
  it.each([
    ['a signature', 'X-Amz-Signature=0123456789abcdef0123456789abcdef0123456789abcdef', '0123456789abcdef'],
    ['an access key id', 'The key AKIAIOSFODNN7EXAMPLE is unknown', 'AKIAIOSFODNN7EXAMPLE'],
    ['a token in a query', 'See https://example.com/x?token=hunter2&a=b for more', 'hunter2'],
    ['a header', 'Got Authorization: Basic-hunter2 instead', 'hunter2'],
    ['the credentials of a header', 'Got Authorization: Basic dXNlcjpodW50ZXIy instead', 'dXNlcjpodW50ZXIy'],
    ['a token after its scheme', "Got 'authorization': 'Bearer hunter2'", 'hunter2'],
    ['a session token', `The token ${'IQoJb3JpZ2luX2VjEAA'.repeat(8)} has expired`, 'IQoJb3JpZ2luX2VjEAA'],
    ['a random text', 'Key dGhpcyBpcyBhIHNlY3JldCBrZXkgMTIzNDU2Nzg5 refused', 'dGhpcyBpcyBhIHNl'],
    ['control characters', 'red \u001b[31m\r\nsecond line', '\u001b'],
  ])('is shown without %s', (_, text, secret) => {
    expect(withoutSecrets(text, [])).not.toContain(secret);
  });

  const harmless = [
    'The bucket my-company-production-traces-archive-eu-west-1 does not exist',
    'arn:aws:s3:::traces/v1/export_id=0f8b1c2d-0000-4000-8000-000000000001/part-0.parquet is locked',
    'Please reduce your request rate.',
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
    'The provided token has expired.',
  ];
  it.each(harmless.map((text) => [text.slice(0, 60), text]))(
    'is unchanged when it contains no secret: %s',
    (_, text) => {
      expect(withoutSecrets(text, [])).toBe(text);
    },
  );

  it('is truncated', () => {
    expect(withoutSecrets('a word '.repeat(1_000), []).length).toBeLessThanOrEqual(400);
    const emojis = withoutSecrets('\u{1F600}'.repeat(1_000), []);
    expect(emojis).not.toMatch(/\p{Cs}/u);
    expect(Array.from(emojis)).toHaveLength(400);
  });
});
