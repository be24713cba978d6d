import { newThread, threadWithRun, said, type Scenario, type State } from '../scenario.ts';

export const state: Scenario = {
  name: 'state',
  async run(wire) {
    const thread = await threadWithRun(wire, 'log', { log: ['in'] }, { metadata: { of: 'run' } });
    await wire.call('get', 'GET', `${thread}/state`);
    const history = await wire.call<State[]>('history', 'POST', `${thread}/history`, {
      body: { limit: 10 },
    });
    await wire.call('history by GET', 'GET', `${thread}/history?limit=2`);
    await wire.call('history, limit', 'POST', `${thread}/history`, { body: { limit: 1 } });
    await wire.call('history, before', 'POST', `${thread}/history`, {
      body: { before: history[1]!.checkpoint.checkpoint_id },
    });
    await wire.call('history, metadata', 'POST', `${thread}/history`, { body: { metadata: { step: 1 } } });
    const early = history[1]!.checkpoint;
    await wire.call('at checkpoint', 'GET', `${thread}/state/${early.checkpoint_id}`);
    await wire.call('at checkpoint by POST', 'POST', `${thread}/state/checkpoint`, {
      body: { checkpoint: early },
    });
    await wire.call('at unknown checkpoint', 'GET', `${thread}/state/cccccccc-0000-6000-8000-000000000001`);
    await wire.call('update', 'POST', `${thread}/state`, {
      body: { values: { log: ['by hand'] }, as_node: 'first' },
    });
    await wire.call('get updated', 'GET', `${thread}/state`);
    await wire.call('thread of updated', 'GET', thread);
    await wire.call('update without node', 'POST', `${thread}/state`, {
      body: { values: { log: ['again'] } },
    });
    await wire.call('update as unknown node', 'POST', `${thread}/state`, {
      body: { values: { log: ['x'] }, as_node: 'nowhere' },
    });
    await wire.call('update of nothing', 'POST', `${thread}/state`, { body: { values: null } });
    await wire.call('fork', 'POST', `${thread}/state`, {
      body: { values: { log: ['fork'] }, as_node: 'first', checkpoint_id: early.checkpoint_id },
    });
    await wire.call('get fork', 'GET', `${thread}/state`);
    await wire.call('continue fork', 'POST', `${thread}/runs/wait`, {
      body: { assistant_id: 'log', input: null },
    });
    await wire.call('run from checkpoint', 'POST', `${thread}/runs/wait`, {
      body: { assistant_id: 'log', input: null, checkpoint_id: early.checkpoint_id },
    });
    await wire.call('history at the end', 'POST', `${thread}/history`, { body: { limit: 50 } });
    await wire.call('update of a thread without graph', 'POST', `${await newThread(wire)}/state`, {
      body: { values: { log: [] } },
    });
  },
};

export const messageState: Scenario = {
  name: 'messages in state',
  async run(wire) {
    const thread = await threadWithRun(wire, 'tools', said('weather?'));
    await wire.call('get', 'GET', `${thread}/state`);
    await wire.call('thread', 'GET', thread);
    await wire.call('history', 'POST', `${thread}/history`, { body: {} });
    await wire.call('remove one', 'POST', `${thread}/state`, {
      body: { values: { messages: [{ type: 'remove', id: 'asking', content: '' }] }, as_node: 'answer' },
    });
    await wire.call('get after removal', 'GET', `${thread}/state`);
    const chat = await threadWithRun(wire, 'chat', said('hi'));
    await wire.call('of a model', 'GET', `${chat}/state`);
  },
};

export const subgraphState: Scenario = {
  name: 'state of subgraphs',
  async run(wire) {
    const thread = await threadWithRun(wire, 'nested', { log: ['in'] });
    const flat = await wire.call<State>('get', 'GET', `${thread}/state`);
    await wire.call('get with subgraphs', 'GET', `${thread}/state?subgraphs=true`);
    const checkpoint = flat.tasks[0]!.checkpoint!;
    await wire.call('get the subgraph', 'POST', `${thread}/state/checkpoint`, { body: { checkpoint } });
    await wire.call('history of the subgraph', 'POST', `${thread}/history`, { body: { checkpoint } });
    await wire.call('update the subgraph', 'POST', `${thread}/state`, {
      body: { values: { log: ['by hand'] }, as_node: 'deep', checkpoint },
    });
    await wire.call('get updated with subgraphs', 'GET', `${thread}/state?subgraphs=true`);
    await wire.call('resume', 'POST', `${thread}/runs/wait`, {
      body: { assistant_id: 'nested', command: { resume: '42' } },
    });
    await wire.call('history', 'POST', `${thread}/history`, { body: { limit: 50 } });
  },
};
