import { expect, it } from 'vitest';
import { readAwsVariables } from './aws-variables.ts';

it('reads keys, region and endpoint; the endpoint of S3 has priority', () => {
  const env = {
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
    AWS_REGION: 'eu-central-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_ENDPOINT_URL: 'https://aws.example.com',
    AWS_ENDPOINT_URL_S3: 'https://s3.example.com',
  };
  expect(readAwsVariables(env)).toEqual({
    endpoint: 'https://s3.example.com',
    region: 'eu-central-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' },
  });
  expect(readAwsVariables({ ...env, AWS_ENDPOINT_URL_S3: '', AWS_REGION: '' })).toMatchObject({
    endpoint: 'https://aws.example.com',
    region: 'us-east-1',
  });
});

it('has no keys when none are set, and then the library looks for them', () => {
  expect(readAwsVariables({ AWS_ACCESS_KEY_ID: '' }).credentials).toBeUndefined();
});

it.each([
  [{ AWS_ACCESS_KEY_ID: 'id' }, 'AWS_SECRET_ACCESS_KEY: is not set'],
  [{ AWS_SECRET_ACCESS_KEY: 'secret' }, 'AWS_ACCESS_KEY_ID: is not set'],
  [{ AWS_ENDPOINT_URL: 's3.example.com' }, 'AWS_ENDPOINT_URL: is no URL'],
  [{ AWS_ENDPOINT_URL_S3: 'https://id:secret@s3.example.com' }, 'AWS_ENDPOINT_URL_S3: is no URL'],
])('refuses %j without showing a secret', (env, message) => {
  expect(() => readAwsVariables(env)).toThrow(message);
  expect(() => readAwsVariables(env)).not.toThrow('secret@');
});
