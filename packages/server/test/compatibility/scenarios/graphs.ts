import type { Scenario } from '../scenario.ts';

export const graphs: Scenario = {
  name: 'graphs',
  async run(wire) {
    for (const graph of ['chat', 'nested']) {
      await wire.call(`graph of ${graph}`, 'GET', `/assistants/${graph}/graph`);
      await wire.call(`graph of ${graph}, xray`, 'GET', `/assistants/${graph}/graph?xray=true`);
    }
    await wire.call('no subgraphs', 'GET', '/assistants/chat/subgraphs');
    await wire.call('subgraphs', 'GET', '/assistants/layered/subgraphs');
    await wire.call('subgraphs, recursive', 'GET', '/assistants/layered/subgraphs?recurse=true');
    await wire.call('one subgraph', 'GET', '/assistants/layered/subgraphs/sub');
    await wire.call('unknown subgraph', 'GET', '/assistants/layered/subgraphs/nothing');
    await wire.call('graph of a factory', 'GET', '/assistants/made/graph');
    await wire.call('a file without an export name', 'POST', '/runs/wait', {
      body: { assistant_id: 'plain', input: { word: 'four' } },
    });
    await wire.call('graph of nothing', 'GET', '/assistants/nothing/graph');
  },
};
