import { trace } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { toLogRecord } from './line-sender.ts';

it.each(['not JSON', '[]', '7', `{"a":${'['.repeat(1_000)}${']'.repeat(1_000)}}`])(
  'a line that the logger does not write is no record: %s',
  (line) => {
    expect(toLogRecord(line)).toBeUndefined();
  },
);

it('ids that are not those of W3C Trace Context stay fields', () => {
  const record = toLogRecord('{"level":30,"time":1,"trace_id":"7","span_id":5}');
  expect(record?.attributes).toEqual({ trace_id: '7', span_id: 5 });
  expect(record?.context && trace.getSpanContext(record.context)).toBeUndefined();
});

it('fields of the caller that are named like those of the logger do not replace them', () => {
  const record = toLogRecord('{"level":30,"time":2000,"time":12.5,"level":"gold","msg":"done"}');
  expect(record).toMatchObject({ timestamp: [2, 0], severityText: 'INFO', body: 'done' });
  expect(record?.attributes).toEqual({ time: 12.5, level: 'gold' });
});

it('an error keeps its further fields', () => {
  const err = { type: 'Error', message: 'no', stack: 'Error: no', code: 'E1' };
  expect(toLogRecord(JSON.stringify({ level: 50, time: 1, err }))?.attributes).toEqual({
    'exception.type': 'Error',
    'exception.message': 'no',
    'exception.stacktrace': 'Error: no',
    err: { code: 'E1' },
  });
});
