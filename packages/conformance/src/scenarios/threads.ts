import { check, checkEqual, checkStatus, get, getList, getText } from '../check.ts';
import type { AreaScenarios } from '../scenario.ts';
import { agentRun, checkConversation, unknownId } from './agents.ts';

export const threads: AreaScenarios = {
  area: 'threads',
  scenarios: {
    'a thread is created, read, changed and deleted': async (server) => {
      const id = await server.newThread({ metadata: { a: 1 } });
      const thread = await server.call('GET', `/threads/${id}`);
      checkEqual('status', get(thread, 'status'), 'idle');
      const changed = await server.call('PATCH', `/threads/${id}`, { metadata: { b: 2 } });
      checkEqual('metadata.a', get(changed, 'metadata', 'a'), 1);
      checkEqual('metadata.b', get(changed, 'metadata', 'b'), 2);
      await server.call('DELETE', `/threads/${id}`);
      checkStatus(await server.send('GET', `/threads/${id}`), 404);
    },
    'creating a thread with an existing id is refused; with do_nothing, it returns the thread': async (
      server,
    ) => {
      const thread_id = await server.newThread();
      checkStatus(await server.send('POST', '/threads', { thread_id }), 409);
      const same = await server.call('POST', '/threads', { thread_id, if_exists: 'do_nothing' });
      checkEqual('thread_id', get(same, 'thread_id'), thread_id);
    },
    'a search by metadata finds only matching threads': async (server) => {
      const mark = unknownId();
      const id = await server.newThread({ metadata: { mark } });
      await server.newThread({ metadata: { mark: unknownId() } });
      const found = getList(await server.call('POST', '/threads/search', { metadata: { mark } }));
      checkEqual(
        'thread ids',
        found.map((thread) => get(thread, 'thread_id')),
        [id],
      );
    },
    'the state after a run has its values and no next nodes': async (server) => {
      const id = await server.newThread();
      await server.call('POST', `/threads/${id}/runs/wait`, agentRun(server));
      const state = await server.call('GET', `/threads/${id}/state`);
      checkConversation(get(state, 'values'));
      checkEqual('next', get(state, 'next'), []);
      getText(state, 'checkpoint', 'checkpoint_id');
    },
    'the history begins with the newest state, and each state has its predecessor': async (server) => {
      const id = await server.newThread();
      await server.call('POST', `/threads/${id}/runs/wait`, agentRun(server));
      const history = getList(await server.call('POST', `/threads/${id}/history`, { limit: 100 }));
      check(history.length >= 3, 'at least three states', history.length);
      const state = await server.call('GET', `/threads/${id}/state`);
      checkEqual(
        'the newest checkpoint',
        get(history[0], 'checkpoint', 'checkpoint_id'),
        get(state, 'checkpoint', 'checkpoint_id'),
      );
      checkEqual(
        'the parent of the newest checkpoint',
        get(history[0], 'parent_checkpoint', 'checkpoint_id'),
        get(history[1], 'checkpoint', 'checkpoint_id'),
      );
    },
    'an update of the state adds messages': async (server) => {
      const id = await server.newThread();
      await server.call('POST', `/threads/${id}/runs/wait`, agentRun(server));
      const before = getList(await server.call('GET', `/threads/${id}/state`), 'values', 'messages').length;
      const values = { messages: [{ role: 'user', content: 'noted' }] };
      await server.call('POST', `/threads/${id}/state`, { values });
      const state = await server.call('GET', `/threads/${id}/state`);
      const messages = getList(state, 'values', 'messages');
      checkEqual('the number of messages', messages.length, before + 1);
      checkEqual('the last message', get(messages.at(-1), 'content'), 'noted');
    },
    'a copy has the state of the thread': async (server) => {
      const id = await server.newThread();
      await server.call('POST', `/threads/${id}/runs/wait`, agentRun(server));
      const copy = server.own(getText(await server.call('POST', `/threads/${id}/copy`), 'thread_id'));
      check(copy !== id, 'a new id', copy);
      const [one, two] = await Promise.all(
        [id, copy].map(async (each) => get(await server.call('GET', `/threads/${each}/state`), 'values')),
      );
      checkEqual('the values of the copy', two, one);
    },
  },
};
