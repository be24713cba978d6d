import { expect, it } from 'vitest';
import { failedRows, hasInput, nameOf, runIdOf, runOfInput, type CheckpointRow } from './checkpoint-row.ts';

const row = (id: string, parent: string | null, fields: Partial<CheckpointRow>): CheckpointRow => ({
  checkpoint_id: id,
  parent_checkpoint_id: parent,
  metadata: {},
  nodes: [],
  created_at: null,
  next: [],
  interrupts: [],
  ...fields,
});

it('a checkpoint has the name of its nodes, also of those that wrote nothing', () => {
  const parent = row('a', null, { next: ['quiet', 'tools'] });
  expect(nameOf(row('b', 'a', { metadata: { source: 'loop' }, nodes: ['tools'] }), parent)).toBe(
    'tools, quiet',
  );
  expect(nameOf(row('b', 'a', { metadata: { source: 'update' }, nodes: ['tools'] }), parent)).toBe('update');
});

it('an input that no node has read differs from the step that reads it', () => {
  expect(hasInput(row('a', null, { metadata: { source: 'input' }, nodes: ['__start__'] }))).toBe(true);
  expect(hasInput(row('b', 'a', { metadata: { source: 'loop' }, nodes: ['__start__'] }))).toBe(false);
  expect(hasInput(row('c', 'a', { metadata: { source: 'input' } }))).toBe(false);
});

it('an input has the name of its run, and the step that reads it is the start', () => {
  const input = row('a', null, {
    metadata: { source: 'input', run_id: 'r' },
    nodes: ['__start__'],
    next: ['__start__'],
  });
  const start = row('b', 'a', { metadata: { source: 'loop', run_id: 'r' }, nodes: ['__start__'] });
  expect([nameOf(input, undefined), runOfInput(input)]).toEqual(['input', 'r']);
  expect([nameOf(start, input), runOfInput(start)]).toEqual(['start', undefined]);
});

it('the run of a state update is that of the nearest checkpoint before it', () => {
  const rows = [row('c', 'b', {}), row('b', 'a', {}), row('a', null, { metadata: { run_id: 'r' } })];
  const byId = new Map(rows.map((one) => [one.checkpoint_id, one]));
  expect(runIdOf(rows[0]!, byId)).toBe('r');
  expect(runIdOf(row('d', 'missing', {}), byId)).toBeUndefined();
});

it('the last checkpoint of a failed run has failed nodes after it', () => {
  const of = (runId: string) => ({ metadata: { run_id: runId } });
  const rows = [
    row('d', 'c', { ...of('good'), next: [] }),
    row('c', 'b', { ...of('good'), next: ['tools'] }),
    row('b', 'a', { ...of('bad'), next: ['plan'] }),
    row('a', null, { ...of('bad'), next: ['__start__'] }),
  ];
  expect([...failedRows(rows, [{ run_id: 'bad' }])]).toEqual([rows[2]]);
});
