// Credentials are in no response, no log and not in the database as plain text, whatever the store answers.
import { expect, it } from 'vitest';
import type { Destination } from '@svc/contract';
import { databaseText } from '../access/database-text.ts';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { recordingServer } from './recording-server.ts';

const secrets = [
  'ACCESSKEYCANARY',
  'secret-canary-1',
  'token-canary-1',
  'ACCESSKEYCANARY2',
  'secret-canary-2',
  'token-canary-2',
];
/** The secrets as they are, and in encodings. */
const forms = secrets.flatMap((secret) => [
  secret,
  Buffer.from(secret).toString('hex'),
  // The part of the base64 text that does not depend on neighbouring bytes.
  ...[0, 1, 2].map((shift) =>
    Buffer.from(' '.repeat(shift) + secret)
      .toString('base64')
      .slice(4, -5),
  ),
]);
const [first, second] = [0, 3].map((at) => ({
  access_key_id: secrets[at],
  secret_access_key: secrets[at + 1],
  session_token: secrets[at + 2],
}));

it('credentials of destinations do not leak', async () => {
  /** Accepts everything for a while; then rejects, and repeats the credentials of the request. */
  let refuses = false;
  await using bucket = await recordingServer((request, response) => {
    if (!refuses) {
      response.writeHead(200, { etag: '"x"' }).end();
      return;
    }
    const headers = JSON.stringify(request.headers);
    const used = (headers.includes('ACCESSKEYCANARY2/') ? secrets.slice(3) : secrets.slice(0, 3)).join(' ');
    response.writeHead(403, { 'x-amz-request-id': headers.slice(0, 200).replaceAll(/[^\x20-\x7e]/g, '') });
    response.end(
      `<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code><Message>${used}</Message>` +
        `<AWSAccessKeyId>${used}</AWSAccessKeyId><StringToSign>${used}</StringToSign></Error>`,
    );
  });
  const workspaceKey = 'the-first-key-of-a-test-0123456789';
  const lines: string[] = [];
  await using server = await startTestServer({
    executors: 'none',
    logger: createLogger({ level: 'trace', format: 'json' }, { write: (line) => void lines.push(line) }),
    settings: { bootstrapApiKey: workspaceKey, egressAllow: `127.0.0.1:${bucket.port}` },
  });
  const answers: string[] = [];
  const call = async (method: string, path: string, json?: unknown): Promise<unknown> => {
    const response = await fetch(`${server.url}/api/v1/bulk-exports/destinations${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': workspaceKey },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const text = await response.text();
    answers.push(`${response.status} ${JSON.stringify([...response.headers])} ${text}`);
    return JSON.parse(text);
  };
  const given = (credentials: unknown) => ({
    display_name: 'Canaries',
    config: { bucket_name: 'bucket', endpoint_url: `http://127.0.0.1:${bucket.port}`, region: 'us-east-1' },
    credentials,
  });
  const { id, credentials_keys } = (await call('POST', '', given(first))) as Destination;
  expect(credentials_keys).toEqual(['access_key_id', 'secret_access_key', 'session_token']);
  expect(bucket.requests[0]?.headers).toMatchObject({
    authorization: expect.stringContaining('ACCESSKEYCANARY/'),
    'x-amz-security-token': 'token-canary-1',
  });
  await call('PATCH', `/${id}`, { credentials: second });
  await call('POST', `/${id}/test`);
  refuses = true;
  await call('POST', `/${id}/test`);
  await call('PATCH', `/${id}`, { credentials: first });
  await call('POST', '', given(first));
  await call('POST', '', { ...given(first), config: { bucket_name: '!' } });
  await call('POST', '', given({ ...first, more: 'x' }));
  await call('POST', '', given({ ...first, secret_access_key: 'secret-canary-1\n' }));
  for (const path of ['', `/${id}`]) await call('GET', path);
  const stored = await databaseText(server.database);
  expect(stored).toContain('Canaries');
  await call('DELETE', `/${id}`);
  expect(answers.map((answer) => answer.slice(0, 3)).join(' ')).toBe(
    '200 200 200 200 400 400 422 422 422 200 200 200',
  );
  await eventually(() => expect(lines.join('')).toContain('"method":"DELETE"'));
  for (const text of [answers.join('\n'), lines.join(''), stored])
    for (const form of forms) expect(text).not.toContain(form);
});
