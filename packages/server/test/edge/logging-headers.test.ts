// http.logging_headers: request headers in the log.
import { expect, it } from 'vitest';
import { createLogger } from '../../src/telemetry/logger.ts';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { projectWith } from './wire.ts';

/** Sends a request, and returns the lines of the log about it. */
const linesFor = async (http: object, headers: Record<string, string>) => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  await using project = await projectWith({ http });
  await using server = await startTestServer({
    project: project.file,
    logger: createLogger({ level: 'info', format: 'json' }, { write }),
  });
  await server.call('POST', '/assistants/search', {}, { 'x-request-id': 'logged', ...headers });
  const wanted = () => lines.filter((line) => line['request_id'] === 'logged');
  await eventually(() => expect(wanted()).toHaveLength(1));
  return wanted();
};

const headers = {
  'X-User-Id': 'alice',
  'x-user-secret': 'hidden',
  'x-plan': 'gold',
  authorization: 'Bearer hidden',
};

it('the log has the headers that the patterns select', async () => {
  const logging_headers = { includes: ['x-user-*'], excludes: ['x-user-secret'] };
  const lines = await linesFor({ logging_headers }, headers);
  expect(lines).toMatchObject([{ msg: 'request', route: '/assistants/search', status: 200 }]);
  expect(lines[0]?.['headers']).toEqual({ 'x-user-id': 'alice' });
});

it('the log has no headers by default', async () => {
  const lines = await linesFor({}, headers);
  expect(lines[0]).not.toHaveProperty('headers');
  expect(JSON.stringify(lines)).not.toMatch(/alice|hidden|gold/);
});
