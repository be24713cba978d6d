import { check, checkEqual, get, getList, getText } from '../check.ts';
import type { AreaScenarios } from '../scenario.ts';
import type { ServerClient } from '../server-client.ts';
import { approvalRun } from './agents.ts';

const interrupted = async (server: ServerClient) => {
  const id = await server.newThread();
  const values = await server.call('POST', `/threads/${id}/runs/wait`, approvalRun(server));
  return { id, values };
};

export const interrupts: AreaScenarios = {
  area: 'interrupts',
  scenarios: {
    'a run that is interrupted returns the interrupt, and its thread waits': async (server) => {
      const { id, values } = await interrupted(server);
      check(getList(values, '__interrupt__').length === 1, 'one interrupt', values);
      const thread = await server.call('GET', `/threads/${id}`);
      checkEqual('status', get(thread, 'status'), 'interrupted');
      const waiting = Object.values((get(thread, 'interrupts') ?? {}) as Record<string, unknown>);
      checkEqual('tasks with interrupts', waiting.length, 1);
    },
    'the state has the waiting task with its interrupt': async (server) => {
      const { id } = await interrupted(server);
      const state = await server.call('GET', `/threads/${id}/state`);
      const [task] = getList(state, 'tasks');
      checkEqual('next', get(state, 'next'), [getText(task, 'name')]);
      const [interrupt] = getList(task, 'interrupts');
      check(get(interrupt, 'value') !== undefined, 'the value of the interrupt', task);
    },
    'an answer continues the run to its end': async (server) => {
      const { id } = await interrupted(server);
      const body = { assistant_id: server.approval, command: { resume: { approve: true } } };
      const values = await server.call('POST', `/threads/${id}/runs/wait`, body);
      checkEqual('decision', get(values, 'decision'), 'sent');
      checkEqual('status', get(await server.call('GET', `/threads/${id}`), 'status'), 'idle');
    },
    'a run from an earlier checkpoint creates a new branch': async (server) => {
      const { id } = await interrupted(server);
      const wait = `/threads/${id}/runs/wait`;
      const answer = (approve: boolean) =>
        server.call('POST', wait, { assistant_id: server.approval, command: { resume: { approve } } });
      checkEqual('the first decision', get(await answer(true), 'decision'), 'sent');
      const history = getList(await server.call('POST', `/threads/${id}/history`, { limit: 100 }));
      // The oldest state waits for the input, the second one for the first node.
      const checkpoint_id = getText(history.at(-2), 'checkpoint', 'checkpoint_id');
      const fork = { assistant_id: server.approval, input: null, checkpoint_id };
      const values = await server.call('POST', wait, fork);
      check(getList(values, '__interrupt__').length === 1, 'the interrupt again', values);
      checkEqual('the decision of the branch', get(await answer(false), 'decision'), 'discarded');
    },
    'interrupt_before stops before a node, and a run without input continues': async (server) => {
      const id = await server.newThread();
      const wait = `/threads/${id}/runs/wait`;
      await server.call('POST', wait, approvalRun(server, { interrupt_before: '*' }));
      const state = await server.call('GET', `/threads/${id}/state`);
      checkEqual('next nodes', getList(state, 'next').length, 1);
      checkEqual('status', get(await server.call('GET', `/threads/${id}`), 'status'), 'interrupted');
      const values = await server.call('POST', wait, { assistant_id: server.approval, input: null });
      check(getList(values, '__interrupt__').length === 1, 'the interrupt of the graph', values);
    },
  },
};
