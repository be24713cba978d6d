// Results of a probe for stores that misbehave, and credentials of an assumed role.
import { afterEach, expect, it, vi } from 'vitest';
import { probe, probeFailure } from '../../src/exports/destinations/probe.ts';
import { usualS3Limits } from '../../src/s3/s3-limits.ts';
import { S3Store } from '../../src/exports/destinations/s3-store.ts';
import type { S3Target } from '../../src/exports/destinations/store-target.ts';
import { recordingServer } from './recording-server.ts';
import { guardFor, openS3, s3Target } from './s3-target.ts';

const never = new AbortController().signal;
const keys = { accessKeyId: 'KEYID', secretAccessKey: 'SECRET' };
const role = 'arn:aws:iam::123456789012:role/exports';

afterEach(() => vi.unstubAllEnvs());

it('times out at a store that never answers', async () => {
  await using silent = await recordingServer(() => undefined);
  await using store = openS3(
    s3Target({ endpoint: `http://127.0.0.1:${silent.port}`, keys, bucket: 'bucket' }),
  );
  const result = await probe(store, { signal: never, limitMs: 200 });
  expect(result).toMatchObject({
    ok: false,
    steps: [
      { name: 'address', ok: true },
      { name: 'put', ok: false, code: 'Timeout' },
    ],
  });
  expect(probeFailure(result)).toMatchObject({ code: 'Timeout' });
});

it('fails at a store that accepts every request', async () => {
  await using agreeing = await recordingServer();
  await using store = openS3(
    s3Target({ endpoint: `http://127.0.0.1:${agreeing.port}`, keys, bucket: 'bucket' }),
  );
  const { ok, steps, abilities } = await probe(store, { signal: never });
  expect({ ok, abilities }).toEqual({
    ok: true,
    abilities: { can_head: false, can_put_if_none_match: false, can_delete: true },
  });
  expect(steps.find(({ name }) => name === 'put_if_none_match')?.message).toMatch(/ignores If-None-Match/);
});

it('reports that nothing listens', async () => {
  const closed = await recordingServer();
  const target = s3Target({ endpoint: `http://127.0.0.1:${closed.port}`, keys, bucket: 'bucket' });
  await closed[Symbol.asyncDispose]();
  await using store = openS3(target, { tries: 1 });
  expect(probeFailure(await probe(store, { signal: never }))).toMatchObject({ code: 'ECONNREFUSED' });
});

it('reports that a store does not speak TLS', async () => {
  await using plain = await recordingServer();
  await using store = openS3(
    s3Target({ endpoint: `https://127.0.0.1:${plain.port}`, keys, bucket: 'bucket' }),
    { tries: 1 },
  );
  expect(probeFailure(await probe(store, { signal: never })).message).toMatch(/TLS/);
});

const stsServer = (body: string, status = 200) =>
  recordingServer((request, response) => {
    response.writeHead(status, { 'content-type': 'text/xml' });
    request.once('end', () => response.end(body));
  });

const withRole = (bucketPort: number, stsPort: number): S3Store => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'SERVERKEY');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'server-secret');
  vi.stubEnv('AWS_ENDPOINT_URL_STS', `http://127.0.0.1:${stsPort}`);
  const endpoint = `http://127.0.0.1:${bucketPort}`;
  const target: S3Target = {
    ...s3Target({ endpoint, keys, bucket: 'bucket' }),
    credentials: null,
    aws_role_arn: role,
  };
  const guard = guardFor(endpoint, `http://127.0.0.1:${stsPort}`);
  return new S3Store(target, { guard, lendsCredentials: true, limits: { ...usualS3Limits, tries: 1 } });
};

it('assumes a role with the credentials of the server, and writes with those of the role', async () => {
  await using bucket = await recordingServer();
  await using sts = await stsServer(
    `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
      <AccessKeyId>LENTKEY</AccessKeyId><SecretAccessKey>lent-secret</SecretAccessKey><SessionToken>lent-token</SessionToken>
      <Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
  );
  await using store = withRole(bucket.port, sts.port);
  const { ok, steps } = await probe(store, { signal: never });
  expect({ ok, names: steps.slice(0, 3).map(({ name }) => name) }).toEqual({
    ok: true,
    names: ['address', 'assume_role', 'put'],
  });
  expect(sts.requests).toHaveLength(1);
  expect(sts.requests[0]?.headers.authorization).toContain('SERVERKEY/');
  for (const { headers } of bucket.requests)
    expect(headers).toMatchObject({
      authorization: expect.stringContaining('LENTKEY/'),
      'x-amz-security-token': 'lent-token',
    });
});

it('reports that a role cannot be assumed', async () => {
  await using bucket = await recordingServer();
  await using sts = await stsServer(
    '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>a sentence</Message></Error></ErrorResponse>',
    403,
  );
  await using store = withRole(bucket.port, sts.port);
  const result = await probe(store, { signal: never });
  expect(result.steps.map(({ name, ok, code }) => [name, ok, code])).toEqual([
    ['address', true, null],
    ['assume_role', false, 'AccessDenied'],
  ]);
  expect(probeFailure(result).message).toMatch(/trust policy.*external id/);
  expect(bucket.requests).toEqual([]);
});
