// Users cannot make the server send requests to its internal network, or to invalid addresses.
import { expect, it } from 'vitest';
import { startPlatform } from '../platform/platform-server.ts';
import { recordingServer } from './recording-server.ts';
import { fixture } from '../fixture.ts';

const platform = fixture(() => startPlatform());
const inside = fixture(() => recordingServer());

const create = (config: object, more: object = {}) =>
  platform.call('POST', '/bulk-exports/destinations', {
    json: {
      display_name: 'Elsewhere',
      config: { bucket_name: 'bucket', ...config },
      credentials: { access_key_id: 'a', secret_access_key: 'b' },
      ...more,
    },
  });

it.each([
  'http://127.1',
  'http://2130706433',
  'http://0x7f.1',
  'http://0177.0.0.1',
  'http://①②⑦.0.0.1',
  'http://0',
  'https://127.0.0.1',
  'https://[::1]',
  'https://[::ffff:7f00:1]',
  'https://[64:ff9b::7f00:1]',
  'https://localhost',
  'https://localhost.',
  'https://metadata.google.internal',
  'http://169.254.169.254.',
  'https://169.254.169.254',
  'https://10.0.0.1',
  'http://127.0.0.1.nip.io',
  'http://s3.example.com',
  'https://ok@127.0.0.1/',
  'https://user:pass@s3.example.com/',
  'https://s3.example.com:9000',
  'https://s3.example.com/?x=1',
  'https://s3.example.com/#x',
  'file:///etc/passwd',
  'gopher://s3.example.com',
  'data:text/plain,x',
  's3.example.com',
  '',
])('rejects the endpoint %s', async (text) => {
  const endpoint_url = text.includes('127') ? text.replace(/(?<=[\d\]])\/?$/, `:${inside.port}/`) : text;
  expect(await create({ endpoint_url })).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['body', 'config', 'endpoint_url'] }] },
  });
  expect(inside.connections()).toBe(0);
});

it.each<[string, object, (string | number)[]]>([
  ['a host in the region', { region: 'x.evil/' }, ['config', 'region']],
  ['a host in the bucket', { bucket_name: 'a.b@evil.example' }, ['config', 'bucket_name']],
  ['no bucket', { bucket_name: '' }, ['config', 'bucket_name']],
  ['a bucket with two dots', { bucket_name: 'a..b' }, ['config', 'bucket_name']],
  ['a long bucket', { bucket_name: 'a'.repeat(256) }, ['config', 'bucket_name']],
  ['a prefix that leads up', { prefix: '../../other' }, ['config', 'prefix']],
  ['a prefix that leads up inside', { prefix: 'a/../b' }, ['config', 'prefix']],
  ['a prefix with an empty part', { prefix: 'a//b' }, ['config', 'prefix']],
  ['a prefix with a NUL', { prefix: 'a\0' }, ['config', 'prefix']],
  ['a prefix with a line feed', { prefix: 'a\nb' }, ['config', 'prefix']],
  ['a prefix that leaves no room', { prefix: 'é'.repeat(401) }, ['config', 'prefix']],
  [
    'a header in an option',
    { s3_additional_kwargs: { Tagging: 'a\r\nx-evil: 1' } },
    ['config', 's3_additional_kwargs', 'Tagging'],
  ],
  ['an unknown option', { s3_additional_kwargs: { Body: 'x' } }, ['config', 's3_additional_kwargs', 'Body']],
  [
    'our own metadata',
    { s3_additional_kwargs: { Metadata: { sha256: 'x' } } },
    ['config', 's3_additional_kwargs', 'Metadata', 'sha256'],
  ],
  ['another field', { bucket: 'x' }, ['config', 'bucket']],
  [
    'no endpoint that could name the bucket',
    { include_bucket_in_prefix: false },
    ['config', 'include_bucket_in_prefix'],
  ],
  [
    'another endpoint than that of AWS, accelerated',
    { endpoint_url: 'https://s3.example.com', config_kwargs_s3: { use_accelerate_endpoint: true } },
    ['config', 'config_kwargs_s3', 'use_accelerate_endpoint'],
  ],
  ['an invalid role', { aws_role_arn: 'arn:aws:iam::1:user/x' }, ['config', 'aws_role_arn']],
])('rejects %s', async (_, config, loc) => {
  expect(await create(config)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', ...loc] }] } });
});

it.each<[string, object, string]>([
  ['no credentials', { credentials: undefined }, 'credentials'],
  ['a role and credentials', { aws_role_arn: 'arn:aws:iam::123456789012:role/x' }, 'aws_role_arn'],
  ['a role', { credentials: undefined, aws_role_arn: 'arn:aws:iam::123456789012:role/x' }, 'aws_role_arn'],
  ['a name with a mark', { display_name: 'a<b' }, 'display_name'],
])('rejects %s, and names the field', async (_, more, field) => {
  expect(await create({}, more)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } });
});
