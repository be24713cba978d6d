import { streamModes } from '@svc/contract';
import { newThread, said, type Scenario } from '../scenario.ts';

const inputs: Record<string, unknown> = {
  log: { log: ['in'] },
  nested: { log: ['in'] },
  chat: said('hi'),
  thinking: said('hi'),
  tools: said('weather?'),
};

/** Each mode alone, as far as the graph has something for it. */
const streamsOf = (graph: string, subgraphs: boolean): Scenario => ({
  name: `streams of ${graph}${subgraphs ? ' with subgraphs' : ''}`,
  async run(wire) {
    for (const stream_mode of streamModes)
      await wire.call(stream_mode, 'POST', `${await newThread(wire)}/runs/stream`, {
        body: { assistant_id: graph, input: inputs[graph], stream_mode, stream_subgraphs: subgraphs },
      });
    // Without messages-tuple: nothing orders its events relative to those of other modes.
    await wire.call('values, updates and messages', 'POST', `${await newThread(wire)}/runs/stream`, {
      body: {
        assistant_id: graph,
        input: inputs[graph],
        stream_mode: ['values', 'updates', 'messages'],
        stream_subgraphs: subgraphs,
      },
    });
  },
});

export const streams: readonly Scenario[] = [
  streamsOf('log', false),
  streamsOf('chat', false),
  streamsOf('tools', false),
  streamsOf('nested', false),
  streamsOf('thinking', false),
  streamsOf('nested', true),
  streamsOf('thinking', true),
];
