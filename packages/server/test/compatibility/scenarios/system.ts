import type { Scenario } from '../scenario.ts';

export const system: Scenario = {
  name: 'system',
  async run(wire) {
    await wire.call('ok', 'GET', '/ok');
    await wire.call('info', 'GET', '/info');
    await wire.call('thread as text', 'POST', '/threads', {
      body: '{}',
      headers: { 'content-type': 'text/plain' },
    });
  },
};
