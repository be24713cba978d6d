// svc doctor: the receivers of the telemetry of the server.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer as createHttp2Server } from 'node:http2';
import { expect, it } from 'vitest';
import { probeReceiver } from '../../src/telemetry/receiver-probe.ts';
import { createProject } from '../cli/cli-process.ts';
import { serveHttp } from '../serve-http.ts';
import { startReceiver } from '../telemetry/otlp-receiver.ts';
import { examineInstallation } from './examine-installation.ts';
import { fixture } from '../fixture.ts';

const project = fixture(() => createProject({ graphs: { agent: './agent.ts:graph' } }));

const spansOnly = { OTEL_METRICS_EXPORTER: 'none', OTEL_LOGS_EXPORTER: 'none' };
const findingsOf = async (env: Record<string, string>) =>
  (await examineInstallation(project.dir, { env })).of('collector');
const findingOf = async (endpoint: string, env: Record<string, string> = {}) =>
  (await findingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...spansOnly, ...env }))[0];

it('no collector is checked when none is configured', async () => {
  expect(await findingsOf({})).toEqual([]);
});

it('each kind of telemetry that is sent is checked at its own receiver, and leaves nothing there', async () => {
  await using receiver = await startReceiver();
  const found = await findingsOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `${receiver.url}/here/v1/logs`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=secret',
  });
  expect(found).toEqual([
    { check: 'collector', status: 'ok', message: `Spans can be sent to ${receiver.url}/v1/traces.` },
    { check: 'collector', status: 'ok', message: `Metrics can be sent to ${receiver.url}/v1/metrics.` },
    { check: 'collector', status: 'ok', message: `The log can be sent to ${receiver.url}/here/v1/logs.` },
  ]);
  expect(receiver.requests).toHaveLength(3);
  for (const { headers } of receiver.requests)
    expect(headers).toMatchObject({ 'x-api-key': 'secret', 'content-type': 'application/x-protobuf' });
  expect([receiver.spans, receiver.logs, [...receiver.metrics]]).toEqual([[], [], []]);
});

it.each([
  'x-api-key=hunter2',
  'authorization=Bearer%20hunter2',
  `authorization=Basic%20${Buffer.from('somebody:hunter2').toString('base64')}`,
])(
  'the response is reported with its status and message, without the credentials of %s that it repeats',
  async (given) => {
    // google.rpc.Status with code 16 and a message.
    const message = 'no such key: hunter2';
    const status = Buffer.concat([Buffer.from([0x08, 16, 0x12, message.length]), Buffer.from(message)]);
    await using server = await serveHttp((_, response) => {
      response.writeHead(401, { 'content-type': 'application/x-protobuf' }).end(status);
    });
    expect(await findingOf(server.url, { OTEL_EXPORTER_OTLP_HEADERS: given })).toEqual({
      check: 'collector',
      status: 'problem',
      message: `Spans cannot be sent to ${server.url}/v1/traces: the receiver responds with 401 (no such key: [redacted]).`,
      remedy: expect.stringContaining('OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    });
  },
);

it.each([
  [404, 'problem', /responds with 404 \(nope\)/, /pipeline of traces.*OTEL_TRACES_EXPORTER=none/],
  [415, 'problem', /responds with 415/, /http\/protobuf with gzip/],
  [503, 'problem', /responds with 503/, /overloaded or not running/],
  [418, 'problem', /responds with 418/, /log of the receiver/],
  [
    302,
    'problem',
    /redirects with 302 to https:\/\/elsewhere, and the server follows no redirect/,
    /TRACES_ENDPOINT/,
  ],
  [400, 'warning', /rejects a request without records with 400 \(nope\)/, /failed to send/],
  [200, 'problem', /the response is text\/html, so it is not from a receiver of OTLP/, /4318/],
])('a receiver that responds with %s is a %s', async (code, status, message, remedy) => {
  await using server = await serveHttp((_, response) => {
    response.writeHead(code, { 'content-type': 'text/html; charset=utf-8', location: 'https://elsewhere' });
    response.end('nope\n');
  });
  expect(await findingOf(server.url)).toMatchObject({
    status,
    message: expect.stringMatching(message),
    remedy: expect.stringMatching(remedy),
  });
});

it('an address where nothing listens is a problem', async () => {
  const { url } = await closedServer();
  expect(await findingOf(url)).toMatchObject({
    status: 'problem',
    message: expect.stringContaining('nothing listens there'),
    remedy: expect.stringContaining('4318'),
  });
});

const closedServer = async (): Promise<{ url: string }> => {
  await using server = await serveHttp((_, response) => void response.end());
  return { url: server.url };
};

it('a host name that is not known is a problem', async () => {
  expect(await findingOf('http://collector.invalid:4318')).toMatchObject({
    status: 'problem',
    message: expect.stringContaining('the host name is not known'),
  });
});

it('a port for gRPC is a problem', async () => {
  const server = createHttp2Server();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    expect(await findingOf(`http://127.0.0.1:${port}`)).toMatchObject({
      status: 'problem',
      message: expect.stringContaining('does not respond with HTTP/1.1'),
      remedy: expect.stringContaining('gRPC'),
    });
  } finally {
    server.close();
  }
});

it('an endpoint with https of a receiver without TLS is a problem', async () => {
  await using server = await serveHttp((_, response) => void response.end());
  expect(await findingOf(server.url.replace('http:', 'https:'))).toMatchObject({
    status: 'problem',
    message: expect.stringContaining('does not use TLS'),
  });
});

it('a receiver that does not respond is a problem after the time limit', async () => {
  await using receiver = await startReceiver({ silent: true });
  expect(await probeReceiver({ url: receiver.url, headers: {} }, 50)).toMatchObject({
    kind: 'failed',
    code: 'TimeoutError',
  });
});
