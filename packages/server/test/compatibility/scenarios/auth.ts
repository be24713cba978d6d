import type { Run, Scenario, Thread } from '../scenario.ts';

const as = (user: string) => ({ authorization: `Bearer ${user}` });

export const auth: Scenario = {
  name: 'auth',
  auth: true,
  async run(wire) {
    await wire.call('no token', 'POST', '/threads', { body: {} });
    await wire.call('unknown token', 'POST', '/threads', { body: {}, headers: as('eve') });
    await wire.call('info without token', 'GET', '/info');
    await wire.call('ok without token', 'GET', '/ok');
    await wire.call('refused by a handler', 'POST', '/threads', { body: {}, headers: as('bob') });
    const { thread_id } = await wire.call<Thread>('create', 'POST', '/threads', {
      body: { metadata: { color: 'red' } },
      headers: as('ada'),
    });
    const thread = `/threads/${thread_id}`;
    for (const user of ['ada', 'bob']) {
      const headers = as(user);
      const got = (step: string, method: string, path: string, body?: unknown) =>
        wire.call(`${user}: ${step}`, method, path, body === undefined ? { headers } : { body, headers });
      await got('get thread', 'GET', thread);
      await got('patch thread', 'PATCH', thread, { metadata: { by: user } });
      await got('search threads', 'POST', '/threads/search', {});
      await got('count threads', 'POST', '/threads/count', {});
      await got('configurable', 'POST', `${thread}/runs/wait`, {
        assistant_id: 'acts',
        input: { do: 'configurable' },
      });
      await got('list runs', 'GET', `${thread}/runs`);
      await got('state', 'GET', `${thread}/state`);
      await got('update state', 'POST', `${thread}/state`, { values: { out: user }, as_node: 'act' });
      await got('history', 'POST', `${thread}/history`, { metadata: { source: 'update' } });
      await got('create the same', 'POST', '/threads', { thread_id });
      await got('stateless run', 'POST', '/runs/wait', { assistant_id: 'acts', input: { do: 'context' } });
      await got('put item', 'PUT', '/store/items', { namespace: ['n'], key: 'k', value: { of: user } });
      await got('get item', 'GET', '/store/items?key=k&namespace=n');
      await got('search items', 'POST', '/store/items/search', { namespace_prefix: ['n'] });
      await got('get assistant', 'GET', '/assistants/chat');
      await got('delete assistant', 'DELETE', '/assistants/chat');
    }
    const { run_id } = await wire.send<Run>('POST', `${thread}/runs`, {
      body: { assistant_id: 'acts', input: { do: 'context' } },
      headers: as('ada'),
    });
    const run = `${thread}/runs/${run_id}`;
    await wire.send('GET', `${run}/join`, { headers: as('ada') });
    await wire.call('foreign run', 'GET', run, { headers: as('bob') });
    await wire.call('foreign join', 'GET', `${run}/join`, { headers: as('bob') });
    await wire.call('foreign joinStream', 'GET', `${run}/stream`, { headers: as('bob') });
    await wire.call('foreign cancel', 'POST', `${run}/cancel`, { headers: as('bob') });
    await wire.call('foreign copy', 'POST', `${thread}/copy`, { headers: as('bob') });
    await wire.call('foreign delete', 'DELETE', thread, { headers: as('bob') });
    await wire.call('copy', 'POST', `${thread}/copy`, { headers: as('ada') });
    await wire.call('delete', 'DELETE', thread, { headers: as('ada') });
  },
};
