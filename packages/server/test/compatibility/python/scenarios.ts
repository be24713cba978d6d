import { streamModes } from '@svc/contract';
import { errors } from '../scenarios/errors.ts';
import { breakpoints, interrupts, parallelInterrupts } from '../scenarios/interrupts.ts';
import { joins } from '../scenarios/joins.ts';
import { cancelledRuns, runs, statelessRuns } from '../scenarios/runs.ts';
import { messageState, state, subgraphState } from '../scenarios/state.ts';
import { streams } from '../scenarios/streams.ts';
import { newThread, type Scenario } from '../scenario.ts';

/** Values of many classes, as results, events, states and history. */
const kinds: Scenario = {
  name: 'kinds of values',
  async run(wire) {
    const thread = await newThread(wire);
    const body = { assistant_id: 'kinds', input: { things: {} } };
    await wire.call('wait', 'POST', `${thread}/runs/wait`, { body });
    await wire.call('state', 'GET', `${thread}/state`);
    await wire.call('thread', 'GET', thread);
    await wire.call('continue', 'POST', `${thread}/runs/wait`, { body });
    for (const stream_mode of streamModes)
      await wire.call(stream_mode, 'POST', `${await newThread(wire)}/runs/stream`, {
        body: { ...body, stream_mode },
      });
    await wire.call('update', 'POST', `${thread}/state`, {
      body: { values: { seen: ['by hand'] }, as_node: 'look' },
    });
    await wire.call('history', 'POST', `${thread}/history`, { body: { limit: 20 } });
  },
};

/** Those of the JavaScript graphs: the project of this folder has the same graphs in Python. */
export const pythonScenarios: readonly Scenario[] = [
  kinds,
  state,
  messageState,
  subgraphState,
  runs,
  statelessRuns,
  cancelledRuns,
  ...streams,
  joins,
  interrupts,
  breakpoints,
  parallelInterrupts,
  errors,
];
