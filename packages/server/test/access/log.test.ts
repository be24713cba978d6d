// The log of a server at level trace contains no credential and no secret of a user. log.slow.test.ts reads the output of a process.
import { expect, it } from 'vitest';
import { createLogger } from '../../src/telemetry/logger.ts';
import { eventually } from '../eventually.ts';
import { startTestServer } from '../server.ts';
import { canaries, project, sendCanaries, studioKey } from './log-canaries.ts';

it('contains no credential', async () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'trace', format: 'json' }, { write: (line) => void lines.push(line) });
  await using server = await startTestServer({ project, logger, settings: { studioKey } });
  const ticket = await sendCanaries(server.url, ['approve', 'unknown']);
  const output = () => lines.join('');
  await eventually(() => {
    for (const text of ['"status":101', '"status":401', 'run ended']) expect(output()).toContain(text);
  });
  expect(output()).not.toContain(ticket);
  expect(output()).not.toMatch(canaries);
});
