import { describe, expect, it } from 'vitest';
import { Secret } from '../config/settings/secret.ts';
import { createLogger, prettyRecord } from './logger.ts';

const capture = (format: 'json' | 'pretty', level: 'info' | 'silent' = 'info') => {
  const lines: string[] = [];
  const logger = createLogger({ level, format }, { write: (line: string) => lines.push(line) });
  return { logger, lines };
};

describe('the log', () => {
  it.each([
    [{ headers: { Authorization: 'Bearer hunter2', cookie: 'a=hunter2' } }],
    [{ request: { headers: { 'x-api-key': 'hunter2', 'set-cookie': ['hunter2'] } } }],
    [{ list: [{ deep: { password: 'hunter2' } }] }],
    [{ OPENAI_API_KEY: 'hunter2', client_secret: 'hunter2' }],
    [{ uri: new Secret('hunter2') }],
  ])('never contains a secret: %j', (record) => {
    const { logger, lines } = capture('json');
    logger.info(record, 'a request');
    logger.child(record).info('a request');
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).not.toContain('hunter2');
      expect(line).toContain('[redacted]');
    }
  });

  it('handles a cyclic object', () => {
    const { logger, lines } = capture('json');
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    logger.info({ cycle }, 'round');
    expect(lines[0]).toContain('"msg":"round"');
  });

  it('contains an error with its stack and cause', () => {
    const { logger, lines } = capture('json');
    logger.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'it failed');
    const record = JSON.parse(lines[0] ?? '') as { err: { message: string; stack: string } };
    expect(record.err.message).toContain('outer');
    expect(record.err.stack).toContain('inner');
  });

  it('contains nothing of the request that caused an error', () => {
    const { logger, lines } = capture('json');
    class Headers {
      authorization = 'Bearer hunter2';
    }
    const failed = Object.assign(new Error('it failed'), {
      code: 'E_HTTP',
      api_key: 'hunter2',
      config: { headers: new Headers() },
    });
    logger.error({ err: failed }, 'a');
    logger.error({ err: new AggregateError([failed], 'all failed') }, 'b');
    for (const line of lines) {
      expect(line).not.toContain('hunter2');
      expect(line).toMatch(/it failed.*E_HTTP/);
    }
  });

  it('is readable in the pretty format', () => {
    const { logger, lines } = capture('pretty');
    logger.warn({ run_id: 'r1', note: 'two words', err: new Error('boom') }, 'the run failed');
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d warn {2}the run failed run_id=r1 note="two words"\n {4}Error: boom/,
    );
  });

  it('is empty at level silent', () => {
    const { logger, lines } = capture('json', 'silent');
    logger.fatal('x');
    expect(lines).toEqual([]);
  });

  it('keeps a line that is not a log record', () => {
    expect(prettyRecord('not json\n', false)).toBe('not json\n');
    expect(prettyRecord('7', false)).toBe('7');
  });
});
