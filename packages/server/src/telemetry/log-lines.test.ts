import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { linesOf } from './log-lines.ts';
import { createLogger } from './logger.ts';

const log = () => {
  const written: string[] = [];
  const write = (line: string): void => void written.push(line);
  const logger = createLogger({ level: 'info', format: 'pretty' }, { write });
  return { written, logger, lines: linesOf(logger) };
};

const reader = () => {
  const read: string[] = [];
  return {
    read,
    note: (line: string): void => void read.push((JSON.parse(line) as { msg: string }).msg),
  };
};

describe('a reader of the lines of a log', () => {
  it('gets the lines before it, and those of child loggers, as JSON without secrets', () => {
    const { logger, lines, written } = log();
    const raw: string[] = [];
    logger.info('first');
    lines?.read((line) => raw.push(line));
    logger.child({ process: 'a' }).warn({ password: 'hunter2' }, 'second');
    expect(raw.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { msg: 'first', level: 30 },
      { msg: 'second', level: 40, process: 'a', password: '[redacted]' },
    ]);
    expect(written).toHaveLength(2);
  });

  it('gets no lines while a later one reads', () => {
    const { logger, lines } = log();
    const [one, two] = [reader(), reader()];
    const reading = [lines?.read(one.note), lines?.read(two.note)];
    logger.info('a');
    reading[1]?.[Symbol.dispose]();
    logger.info('b');
    reading[0]?.[Symbol.dispose]();
    logger.info('c');
    expect([one.read, two.read]).toEqual([['b'], ['a']]);
  });

  it('gets no lines that are logged without readers', () => {
    const { logger, lines, written } = log();
    const one = reader();
    lines?.read(one.note);
    lines?.withoutReaders(() => logger.info('unread'));
    logger.info('after');
    expect(one.read).toEqual(['after']);
    expect(written).toHaveLength(2);
  });

  it('cannot read a logger of another program', () => {
    expect(linesOf(pino({ level: 'silent' }))).toBeUndefined();
  });
});
