import type { StreamTransformer } from '@langchain/langgraph';
import { StreamChannel } from '@langchain/langgraph/stream';
import { expect, it } from 'vitest';
import { MessageEvents } from '../../../deployment/thread-protocol/translation/message-events.ts';
import { StreamTransformers } from './stream-transformers.ts';

const open = (transformer: StreamTransformer) => {
  const emitted: [string, unknown][] = [];
  const transformers = new StreamTransformers([() => transformer], {
    emit: (...event) => emitted.push(event),
    messages: new MessageEvents('javascript'),
    toWire: (chunk) => chunk,
  });
  return { transformers, emitted };
};

const process = () => true;

it('emits an item of a named channel in the namespace of the event that the transformer processes', () => {
  const steps = new StreamChannel<string>('steps');
  const local = StreamChannel.local<string>();
  const { transformers, emitted } = open({
    init: () => ({ steps, local }),
    process: ({ method }) => {
      steps.push(method);
      local.push(method);
      return true;
    },
  });
  transformers.chunk([], 'updates', { a: {} });
  transformers.chunk(['b:1'], 'values', {});
  expect(emitted).toEqual([
    ['custom', { name: 'steps', payload: 'updates' }],
    ['custom|b:1', { name: 'steps', payload: 'values' }],
  ]);
});

it('has the messages of the run as content blocks', () => {
  const seen: unknown[] = [];
  const { transformers } = open({
    init: () => ({}),
    process: ({ method, params }) => {
      if (method === 'messages') seen.push([params.namespace, (params.data as { event: string }).event]);
      return true;
    },
  });
  const chunk = { type: 'AIMessageChunk', id: 'm', content: 'hi', tool_call_chunks: [] };
  transformers.chunk([], 'messages', [chunk, { langgraph_checkpoint_ns: 'a:1', langgraph_node: 'a' }]);
  transformers.chunk([], 'tasks', { id: '1', name: 'a', result: {}, interrupts: [] });
  const events = [
    'message-start',
    'content-block-start',
    'content-block-delta',
    'content-block-finish',
    'message-finish',
  ];
  expect(seen).toEqual(events.map((event) => [['a:1'], event]));
});

it('emits final values that exist, and stops waiting for others when the run is stopped', async () => {
  const { transformers, emitted } = open({
    init: () => ({
      total: Promise.resolve(3),
      nothing: Promise.resolve(),
      failed: Promise.reject(new Error('no value')),
      never: new Promise(() => undefined),
    }),
    process,
  });
  const stop = new AbortController();
  const finished = transformers.finish(stop.signal);
  await expect.poll(() => emitted).toHaveLength(2);
  stop.abort();
  await finished;
  expect(emitted).toEqual([
    ['custom', { name: 'total', payload: 3 }],
    ['custom', { name: 'nothing', payload: null }],
  ]);
});

it('leaves out the transformers of libraries, whose values are for the program that runs the graph', () => {
  const native = { __native: true, init: () => ({}), process: () => expect.fail('was called') };
  open(native).transformers.chunk([], 'values', {});
});
