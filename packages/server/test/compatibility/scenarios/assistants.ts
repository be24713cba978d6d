import type { Scenario } from '../scenario.ts';

export const assistants: Scenario = {
  name: 'assistants',
  async run(wire) {
    await wire.call('default', 'GET', '/assistants/chat');
    await wire.call('search by graph', 'POST', '/assistants/search', { body: { graph_id: 'log' } });
    const body = {
      assistant_id: 'aaaaaaaa-0000-4000-8000-000000000001',
      graph_id: 'log',
      name: 'Mine',
      description: 'My own',
      metadata: { team: 'a' },
      config: { configurable: { suffix: '!' }, recursion_limit: 7, tags: ['t'] },
    };
    const one = `/assistants/${body.assistant_id}`;
    await wire.call('create', 'POST', '/assistants', { body });
    await wire.call('create again', 'POST', '/assistants', { body });
    await wire.call('create again, do nothing', 'POST', '/assistants', {
      body: { ...body, if_exists: 'do_nothing' },
    });
    await wire.call('create without name', 'POST', '/assistants', { body: { graph_id: 'log' } });
    await wire.call('create with context', 'POST', '/assistants', {
      body: { graph_id: 'log', name: 'With context', context: { language: 'no' } },
    });
    await wire.call('get', 'GET', one);
    await wire.call('patch', 'PATCH', one, { body: { name: 'Ours', metadata: { tier: 2 } } });
    await wire.call('patch nothing', 'PATCH', one, { body: {} });
    await wire.call('versions', 'POST', `${one}/versions`, { body: {} });
    await wire.call('set latest', 'POST', `${one}/latest`, { body: { version: 1 } });
    await wire.call('set latest to an unknown version', 'POST', `${one}/latest`, { body: { version: 9 } });
    await wire.call('search by metadata', 'POST', '/assistants/search', {
      body: { metadata: { team: 'a' } },
    });
    await wire.call('search by name', 'POST', '/assistants/search', { body: { name: 'min' } });
    await wire.call('search with select', 'POST', '/assistants/search', {
      body: { metadata: { team: 'a' }, select: ['assistant_id', 'name'] },
    });
    await wire.call('search page', 'POST', '/assistants/search', {
      body: { graph_id: 'log', limit: 1, offset: 1 },
    });
    await wire.call('count', 'POST', '/assistants/count', { body: { graph_id: 'log' } });
    await wire.call('delete', 'DELETE', one);
    await wire.call('get deleted', 'GET', one);
    await wire.call('delete deleted', 'DELETE', one);
    await wire.call('create for unknown graph', 'POST', '/assistants', { body: { graph_id: 'nothing' } });
    await wire.call('create without graph', 'POST', '/assistants', { body: {} });
  },
};
