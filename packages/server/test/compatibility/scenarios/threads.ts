import { threadWithRun, type Scenario, type Thread } from '../scenario.ts';

export const threads: Scenario = {
  name: 'threads',
  async run(wire) {
    await wire.call('create', 'POST', '/threads', { body: {} });
    const thread_id = 'bbbbbbbb-0000-4000-8000-000000000001';
    const one = `/threads/${thread_id}`;
    const body = { thread_id, metadata: { color: 'red' } };
    await wire.call('create with id', 'POST', '/threads', { body });
    await wire.call('create again', 'POST', '/threads', { body });
    await wire.call('create again, do nothing', 'POST', '/threads', {
      body: { ...body, if_exists: 'do_nothing' },
    });
    await wire.call('get', 'GET', one);
    await wire.call('patch', 'PATCH', one, { body: { metadata: { size: 3 } } });
    await wire.call('state of an empty thread', 'GET', `${one}/state`);
    await wire.call('history of an empty thread', 'POST', `${one}/history`, { body: {} });
    await wire.call('search', 'POST', '/threads/search', { body: { metadata: { color: 'red' } } });
    await wire.call('search with select', 'POST', '/threads/search', {
      body: { metadata: { color: 'red' }, select: ['thread_id', 'status'] },
    });
    await wire.call('search by status', 'POST', '/threads/search', {
      body: { metadata: { color: 'red' }, status: 'busy' },
    });
    await wire.call('search by ids', 'POST', '/threads/search', { body: { ids: [thread_id] } });
    await wire.call('count', 'POST', '/threads/count', { body: { metadata: { color: 'red' } } });
    await wire.call('delete', 'DELETE', one);
    await wire.call('get deleted', 'GET', one);
    await wire.call('delete deleted', 'DELETE', one);
    await wire.call('patch deleted', 'PATCH', one, { body: { metadata: {} } });
    await wire.call('copy deleted', 'POST', `${one}/copy`);
    await wire.call('state of deleted', 'GET', `${one}/state`);
    await wire.call('history of deleted', 'POST', `${one}/history`, { body: {} });
    await wire.call('get what is no id', 'GET', '/threads/nothing');
  },
};

export const usedThreads: Scenario = {
  name: 'used threads',
  async run(wire) {
    const thread = await threadWithRun(wire, 'log', { log: ['in'] }, { metadata: { of: 'run' } });
    await wire.call('get', 'GET', thread);
    await wire.call('search', 'POST', '/threads/search', {
      body: { ids: [thread.slice('/threads/'.length)] },
    });
    const copy = await wire.call<Thread>('copy', 'POST', `${thread}/copy`);
    await wire.call('get copy', 'GET', `/threads/${copy.thread_id}`);
    await wire.call('state of copy', 'GET', `/threads/${copy.thread_id}/state`);
    await wire.send('POST', `/threads/${copy.thread_id}/runs/wait`, {
      body: { assistant_id: 'log', input: {} },
    });
    await wire.call('history of copy', 'POST', `/threads/${copy.thread_id}/history`, { body: { limit: 20 } });
    await wire.call('history of original', 'POST', `${thread}/history`, { body: { limit: 20 } });
    const failed = await threadWithRun(wire, 'acts', { do: 'throw' });
    await wire.call('get failed', 'GET', failed);
    await wire.call('state of failed', 'GET', `${failed}/state`);
    const stopped = await threadWithRun(wire, 'approval', { log: [] });
    await wire.call('get interrupted', 'GET', stopped);
    await wire.call('search interrupted', 'POST', '/threads/search', {
      body: { status: 'interrupted', ids: [stopped.slice('/threads/'.length)] },
    });
  },
};

export const supersteps: Scenario = {
  name: 'supersteps',
  async run(wire) {
    const body = {
      metadata: { graph_id: 'log' },
      supersteps: [
        { updates: [{ values: { log: ['in'] }, as_node: '__input__' }] },
        { updates: [{ values: { log: ['in'] }, as_node: '__start__' }] },
        { updates: [{ values: { log: ['one'] }, as_node: 'first' }] },
      ],
    };
    const { thread_id } = await wire.call<Thread>('create', 'POST', '/threads', { body });
    await wire.call('get', 'GET', `/threads/${thread_id}`);
    await wire.call('state', 'GET', `/threads/${thread_id}/state`);
    await wire.call('history', 'POST', `/threads/${thread_id}/history`, { body: {} });
    await wire.call('continue', 'POST', `/threads/${thread_id}/runs/wait`, {
      body: { assistant_id: 'log', input: null },
    });
    await wire.call('create without graph', 'POST', '/threads', { body: { supersteps: body.supersteps } });
  },
};
