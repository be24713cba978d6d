import { check, checkEqual, checkStatus, get, getList, getText } from '../check.ts';
import type { AreaScenarios } from '../scenario.ts';
import { agentRun, checkConversation, unknownId } from './agents.ts';

export const runs: AreaScenarios = {
  area: 'runs',
  scenarios: {
    'a run on a thread returns its values': async (server) => {
      const id = await server.newThread();
      checkConversation(await server.call('POST', `/threads/${id}/runs/wait`, agentRun(server)));
    },
    'a second run continues the conversation': async (server) => {
      const id = await server.newThread();
      const wait = `/threads/${id}/runs/wait`;
      const first = getList(await server.call('POST', wait, agentRun(server)), 'messages');
      const second = getList(await server.call('POST', wait, agentRun(server)), 'messages');
      check(second.length > first.length, 'more messages after the second run', second.length);
      checkEqual('the first message', get(second[0], 'id'), get(first[0], 'id'));
    },
    'a stateless run returns its values': async (server) =>
      checkConversation(await server.call('POST', '/runs/wait', agentRun(server))),
    'a background run is joined, read and listed': async (server) => {
      const id = await server.newThread();
      const created = await server.call('POST', `/threads/${id}/runs`, agentRun(server));
      const run_id = getText(created, 'run_id');
      checkEqual('thread_id', get(created, 'thread_id'), id);
      checkConversation(await server.call('GET', `/threads/${id}/runs/${run_id}/join`));
      const run = await server.call('GET', `/threads/${id}/runs/${run_id}`);
      checkEqual('status', get(run, 'status'), 'success');
      const listed = getList(await server.call('GET', `/threads/${id}/runs`));
      checkEqual(
        'listed runs',
        listed.map((one) => get(one, 'run_id')),
        [run_id],
      );
    },
    'metadata of a run is returned with it': async (server) => {
      const id = await server.newThread();
      const body = agentRun(server, { metadata: { mark: 'conformance' } });
      const created = await server.call('POST', `/threads/${id}/runs`, body);
      checkEqual('metadata.mark', get(created, 'metadata', 'mark'), 'conformance');
      await server.call('GET', `/threads/${id}/runs/${getText(created, 'run_id')}/join`);
    },
    'runs on one thread wait for each other': async (server) => {
      const id = await server.newThread();
      const path = `/threads/${id}/runs`;
      const created = [];
      for (let at = 0; at < 3; at++)
        created.push(getText(await server.call('POST', path, agentRun(server)), 'run_id'));
      for (const run_id of created) await server.call('GET', `${path}/${run_id}/join`);
      const listed = getList(await server.call('GET', path));
      for (const run of listed) checkEqual('status', get(run, 'status'), 'success');
      const messages = getList(await server.call('GET', `/threads/${id}/state`), 'values', 'messages');
      checkEqual('questions', messages.filter((one) => get(one, 'type') === 'human').length, 3);
    },
    'a run that has ended is deleted': async (server) => {
      const id = await server.newThread();
      const created = await server.call('POST', `/threads/${id}/runs`, agentRun(server));
      const path = `/threads/${id}/runs/${getText(created, 'run_id')}`;
      await server.call('GET', `${path}/join`);
      await server.call('DELETE', path);
      checkStatus(await server.send('GET', path), 404);
    },
    'a run of an unknown assistant or thread gets 404 and is not created': async (server) => {
      const id = await server.newThread();
      const body = { ...agentRun(server), assistant_id: unknownId() };
      checkStatus(await server.send('POST', `/threads/${id}/runs`, body), 404, 422);
      checkEqual('runs', await server.call('GET', `/threads/${id}/runs`), []);
      checkStatus(await server.send('POST', `/threads/${unknownId()}/runs`, agentRun(server)), 404);
    },
  },
};
