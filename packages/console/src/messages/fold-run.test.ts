import type { RunStreamEvent } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { emptyView, endView, foldEvent, type RunView } from './fold-run.ts';
import { readMessage } from './read-messages.ts';

const fold = (events: Omit<RunStreamEvent, 'id'>[]): RunView =>
  events.reduce(
    (view, event, index) => foldEvent(view, { id: String(index), ...event }, index * 100),
    emptyView,
  );

const chunk = (content: unknown, calls: object[] = []) => ({
  event: 'messages',
  data: [{ type: 'ai', id: 'm', content, tool_calls: [], tool_call_chunks: calls }, {}],
});

describe('the messages of a run', () => {
  it('are joined from their chunks', () => {
    const { messages } = fold([chunk('The '), chunk('weather: '), chunk('snow.')]);
    expect(readMessage(messages.get('m'))?.text).toBe('The weather: snow.');
  });

  it('join the arguments of a tool call by the index of the call', () => {
    const { messages } = fold([
      chunk('', [{ index: 0, id: 'c', name: 'weather', args: '{"ci' }]),
      chunk('', [{ index: 0, args: 'ty":"Oslo"}' }]),
    ]);
    expect(readMessage(messages.get('m'))?.toolCalls).toEqual([
      { id: 'c', name: 'weather', args: { city: 'Oslo' } },
    ]);
  });

  it('join contents of parts', () => {
    const { messages } = fold([chunk([{ type: 'text', text: 'a' }]), chunk([{ type: 'text', text: 'b' }])]);
    expect(readMessage(messages.get('m'))?.text).toBe('ab');
  });

  it('are replaced by those that the node has written', () => {
    const whole = { type: 'ai', id: 'm', content: 'whole', tool_calls: [] };
    const { messages } = fold([chunk('par'), { event: 'updates', data: { agent: { messages: [whole] } } }]);
    expect(messages.get('m')).toEqual(whole);
  });

  it('have the time of the first part that a model has written', () => {
    const human = { event: 'messages', data: [{ type: 'human', id: 'h', content: 'hi' }, {}] };
    expect(fold([human]).firstTokenMs).toBeUndefined();
    expect(fold([human, chunk('a'), chunk('b')]).firstTokenMs).toBe(100);
  });

  it('begin again when another attempt begins', () => {
    const { messages, runId } = fold([
      chunk('lost'),
      { event: 'metadata', data: { run_id: 'r', attempt: 2 } },
    ]);
    expect([messages.size, runId]).toEqual([0, 'r']);
  });
});

describe('the nodes of a run', () => {
  const started = { event: 'tasks', data: { id: 't', name: 'agent', input: {} } };

  it('run between the start and the end of their task, and count their visits', () => {
    const ended = {
      event: 'tasks',
      data: { id: 't', name: 'agent', result: {}, interrupts: [], error: null },
    };
    expect(fold([started]).nodes.get('agent')).toMatchObject({ state: 'running', visits: 1 });
    expect(fold([started, ended]).nodes.get('agent')).toMatchObject({ state: 'done', tookMs: 100 });
    expect(fold([started, ended, started]).nodes.get('agent')).toMatchObject({ state: 'running', visits: 2 });
  });

  it('do not run any more when the stream has ended', () => {
    const { nodes } = endView(fold([started]), 1_000_000);
    expect(nodes.get('agent')?.state).toBe('interrupted');
    const ended = { event: 'tasks', data: { name: 'agent', result: {}, interrupts: [], error: null } };
    expect(endView(fold([started, ended]), 1_000_000).nodes.get('agent')?.state).toBe('done');
  });

  it('have failed when the run has failed in them', () => {
    const error = { event: 'error', data: { error: 'TypeError', message: 'no' } };
    const other = { event: 'tasks', data: { name: 'other', result: {}, interrupts: [], error: 'no' } };
    const stateAfter = (events: Parameters<typeof fold>[0]) =>
      endView(fold([started, ...events]), 1_000_000).nodes.get('agent')?.state;
    expect(stateAfter([error])).toBe('error');
    expect(stateAfter([other, error])).toBe('interrupted');
  });

  it('are marked when they have failed or wait for a person', () => {
    const failed = { event: 'tasks', data: { name: 'agent', result: {}, interrupts: [], error: 'no' } };
    const asks = {
      event: 'tasks',
      data: { name: 'agent', result: {}, interrupts: [{ value: 1 }], error: null },
    };
    expect(fold([started, failed]).nodes.get('agent')?.state).toBe('error');
    expect(fold([started, asks]).nodes.get('agent')?.state).toBe('interrupted');
  });
});

it('the error of a run is its class and its message', () => {
  expect(fold([{ event: 'error', data: { error: 'TypeError', message: 'no city' } }]).error).toBe(
    'TypeError: no city',
  );
});
