// The addresses of requests for a bucket, as a server sees them that accepts everything.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { S3Config } from '@svc/contract';
import { EgressGuard } from '../../src/net/guard.ts';
import { parseHostList } from '../../src/net/host-list.ts';
import { usualS3Limits } from '../../src/s3/s3-limits.ts';
import { S3Store } from '../../src/exports/destinations/s3-store.ts';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { describeS3, openGateway } from '../s3/gateway.ts';
import { localFile } from './local-file.ts';
import { recordingServer, type RecordingServer } from './recording-server.ts';
import { openS3, s3Target } from './s3-target.ts';
import { testFolder } from '../folders.ts';

const never = new AbortController().signal;
const mb = 1_024 ** 2;
const keys = { accessKeyId: 'KEYID', secretAccessKey: 'SECRET' };

describe('a bucket', () => {
  let server: RecordingServer;
  beforeEach(async () => {
    server = await recordingServer();
  });
  afterEach(() => server[Symbol.asyncDispose]());

  /** Every name resolves to the test's server; the guard is called for each. */
  const open = (host: string, config: Partial<S3Config>): S3Store => {
    const here = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    const allowed = [host, `bucket.${host}`].map((each) => ({ host: each, port: server.port }));
    return new S3Store(
      s3Target({ endpoint: `http://${host}:${server.port}`, keys, bucket: 'bucket' }, config),
      {
        guard: new EgressGuard(allowed, here),
        lendsCredentials: false,
        limits: { ...usualS3Limits, tries: 1 },
      },
    );
  };

  it.each<[string, string, Partial<S3Config>, string, string, string]>([
    ['in the path, by itself', 's3.test', {}, 's3.test', '/bucket/some/prefix/key', 'bucket/some/prefix'],
    [
      'in the path',
      's3.test',
      { config_kwargs_s3: { addressing_style: 'path' } },
      's3.test',
      '/bucket/some/prefix/key',
      'bucket/some/prefix',
    ],
    [
      'before the host',
      's3.test',
      { config_kwargs_s3: { addressing_style: 'virtual' } },
      'bucket.s3.test',
      '/some/prefix/key',
      'bucket/some/prefix',
    ],
    [
      'in neither place, when the host begins with it',
      'bucket.s3.test',
      {},
      'bucket.s3.test',
      '/some/prefix/key',
      'bucket/some/prefix',
    ],
    [
      'in neither place, when the prefix must not include it',
      'other.test',
      { include_bucket_in_prefix: false },
      'other.test',
      '/some/prefix/key',
      'bucket/some/prefix',
    ],
    [
      'in the path, when the prefix must include it',
      'bucket.s3.test',
      { include_bucket_in_prefix: true },
      'bucket.s3.test',
      '/bucket/some/prefix/key',
      'bucket/some/prefix',
    ],
    ['without a prefix', 's3.test', { prefix: '' }, 's3.test', '/bucket/key', 'bucket'],
    [
      'with slashes around the prefix',
      's3.test',
      { prefix: '/a/b/' },
      's3.test',
      '/bucket/a/b/key',
      'bucket/a/b',
    ],
  ])('is named %s', async (_, host, config, wantedHost, url, root) => {
    await using store = open(host, config);
    await store.putText('key', 'x', 'text/plain', never);
    expect(store.root).toBe(root);
    expect(server.requests).toMatchObject([
      {
        method: 'PUT',
        host: `${wantedHost}:${server.port}`,
        url: expect.stringMatching(new RegExp(`^${url}(\\?|$)`)),
      },
    ]);
  });

  it('of an endpoint with a path is below that path', async () => {
    await using store = open('s3.test', { endpoint_url: `http://s3.test:${server.port}/storage/v1/s3` });
    await store.putText('key', 'x', 'text/plain', never);
    expect(server.requests[0]?.url).toMatch(/^\/storage\/v1\/s3\/bucket\/some\/prefix\/key/);
    await using named = open('s3.test', {
      endpoint_url: `http://s3.test:${server.port}/bucket`,
      include_bucket_in_prefix: false,
    });
    await named.putText('key', 'x', 'text/plain', never);
    expect(server.requests[1]?.url).toMatch(/^\/bucket\/some\/prefix\/key/);
  });

  it('does not follow redirects', async () => {
    await using elsewhere = await recordingServer();
    await using moved = await recordingServer((_, response) => {
      response.writeHead(307, {
        location: `http://127.0.0.1:${elsewhere.port}/`,
        'x-amz-bucket-region': 'eu-west-1',
      });
      response.end();
    });
    const target = s3Target({ endpoint: `http://127.0.0.1:${moved.port}`, keys, bucket: 'bucket' });
    await using store = openS3(target, { tries: 1 });
    await expect(store.putText('key', 'x', 'text/plain', never)).rejects.toMatchObject({ isFinal: false });
    expect(elsewhere.connections()).toBe(0);
  });

  it('that sends an endless response is disconnected', async () => {
    await using endless = await recordingServer((_, response) => {
      response.writeHead(400);
      const writeMore = (): void => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', writeMore);
      };
      writeMore();
    });
    const target = s3Target({ endpoint: `http://127.0.0.1:${endless.port}`, keys, bucket: 'bucket' });
    await using store = openS3(target, { tries: 1 });
    await expect(store.putText('key', 'x', 'text/plain', never)).rejects.toThrow(/too long for S3/);
  });

  it('whose name resolves to the internal network at connection time is not connected', async () => {
    const turns = ['1.1.1.1', '127.0.0.1'];
    const flips = () => Promise.resolve([{ address: turns.shift() ?? '127.0.0.1', family: 4 }]);
    const target = s3Target({ endpoint: `https://flip.test`, keys, bucket: 'bucket' });
    await using store = new S3Store(target, {
      guard: new EgressGuard([], flips),
      lendsCredentials: false,
      limits: usualS3Limits,
    });
    await store.findAddress(never);
    await expect(store.putText('key', 'x', 'text/plain', never)).rejects.toMatchObject({
      code: 'EndpointRefused',
      isFinal: true,
    });
  });

  it.each(['169.254.169.254', '169.254.170.2', 'fd00:ec2::254', '::ffff:169.254.169.254'])(
    'is not connected at %s, whatever the operator allows',
    async (address) => {
      const guard = new EgressGuard([{ host: 'allowed.test', port: undefined }], () =>
        Promise.resolve([{ address, family: address.includes(':') ? 6 : 4 }]),
      );
      const target = s3Target({ endpoint: 'http://allowed.test', keys, bucket: 'bucket' });
      await using store = new S3Store(target, { guard, lendsCredentials: false, limits: usualS3Limits });
      await expect(store.putText('key', 'x', 'text/plain', never)).rejects.toMatchObject({
        code: 'EndpointRefused',
      });
    },
  );

  it('without credentials does not use those of the server, unless that is configured', () => {
    const target = {
      ...s3Target({ endpoint: 'https://s3.test', keys, bucket: 'bucket' }),
      credentials: null,
    };
    for (const role of [null, 'arn:aws:iam::123456789012:role/x'])
      expect(() => openS3({ ...target, aws_role_arn: role })).toThrow(/may not use the server's own/);
  });

  it.each([
    ['https://s3.evil.test', '', /sent only to AWS/],
    ['https://s3.amazonaws.com.evil.test', '', /sent only to AWS/],
    ['https://s3.eu-west-1.amazonaws.com', '', undefined],
    ['https://minio.corp.test:9000', 'minio.corp.test:9000', undefined],
  ])(
    'uses the credentials of the server only where the operator allows it: %s',
    async (endpoint, allow, refusal) => {
      const guard = new EgressGuard(allow === '' ? [] : parseHostList(allow));
      const target = { ...s3Target({ endpoint, keys, bucket: 'bucket' }), credentials: null };
      const open = () => new S3Store(target, { guard, lendsCredentials: true, limits: usualS3Limits });
      if (refusal) expect(open).toThrow(refusal);
      else await open()[Symbol.asyncDispose]();
    },
  );
});

describeS3('a bucket with options', () => {
  it.each(['CRC32', 'CRC32C', 'SHA1', 'SHA256'] as const)(
    'stores files with %s and all options',
    async (sum) => {
      await using gateway = await openGateway();
      const bucket = await gateway.createBucket();
      const scratch = testFolder();
      await using store = openS3(
        s3Target(
          { endpoint: gateway.endpoint, keys: gateway.keys, bucket },
          {
            s3_additional_kwargs: {
              Metadata: { team: 'blue' },
              Tagging: 'a=b&c=d',
              ACL: 'private',
              StorageClass: 'STANDARD',
              ChecksumAlgorithm: sum,
            },
          },
        ),
      );
      for (const bytes of [1_000, 20 * mb]) {
        const file = await localFile(scratch, bytes);
        await store.put(`file-${bytes}`, file, { ifAbsent: true, signal: never });
        const found = await gateway
          .client()
          .send(new HeadObjectCommand({ Bucket: bucket, Key: `some/prefix/file-${bytes}` }));
        expect(found).toMatchObject({
          Metadata: { team: 'blue', sha256: file.sha256 },
          ContentType: 'application/vnd.apache.parquet',
          ContentLength: bytes,
          // This gateway drops the tags of multipart uploads.
          ...(bytes === 1_000 ? { TagCount: 2 } : {}),
        });
      }
    },
  );
});
