import { newThread, type Scenario } from '../scenario.ts';

export const crons: Scenario = {
  name: 'crons',
  async run(wire) {
    const body = { assistant_id: 'log', schedule: '0 0 1 1 *', input: {} };
    await wire.call('create', 'POST', '/runs/crons', { body });
    await wire.call('create on a thread', 'POST', `${await newThread(wire)}/runs/crons`, { body });
    await wire.call('search', 'POST', '/runs/crons/search', { body: {} });
    await wire.call('delete', 'DELETE', '/runs/crons/ffffffff-0000-4000-8000-000000000001');
  },
};
