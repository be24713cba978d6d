import { newThread, type Scenario } from '../scenario.ts';

/** What a graph sees. */
export const configs: Scenario = {
  name: 'configs',
  async run(wire) {
    const assistant_id = 'aaaaaaaa-0000-4000-8000-000000000002';
    await wire.send('POST', '/assistants', {
      body: {
        assistant_id,
        graph_id: 'acts',
        config: { configurable: { of: 'assistant', assistant: 1 }, tags: ['a'] },
        metadata: { of: 'assistant', assistant: 1 },
        context: { of: 'assistant', assistant: 1 },
      },
    });
    for (const act of ['configurable', 'metadata', 'context']) {
      const thread = await newThread(wire, { metadata: { of: 'thread', thread: 1 } });
      await wire.call(act, 'POST', `${thread}/runs/wait`, {
        body: {
          assistant_id,
          input: { do: act },
          config: { configurable: { of: 'run', run: 1 } },
          context: { of: 'run', run: 1 },
          metadata: { of: 'run', run: 1 },
        },
        headers: { 'x-custom': 'sent', 'user-agent': 'test' },
      });
      await wire.call(`${act}: thread`, 'GET', thread);
      await wire.call(`${act}: runs`, 'GET', `${thread}/runs`);
    }
    await wire.call('no context', 'POST', '/runs/wait', {
      body: { assistant_id: 'acts', input: { do: 'context' } },
    });
    await wire.call('factory', 'POST', `${await newThread(wire)}/runs/wait`, {
      body: { assistant_id: 'made', input: { messages: [] }, config: { configurable: { suffix: 'here' } } },
    });
    await wire.call('store in graph', 'POST', '/runs/wait', {
      body: { assistant_id: 'acts', input: { do: 'remember' } },
    });
    await wire.call('item of graph', 'GET', '/store/items?key=one&namespace=notes');
  },
};
