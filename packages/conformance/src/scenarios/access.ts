// Authentication, and the isolation of two users from each other. Needs the credentials of both.
import { check, checkEqual, checkStatus, get, getList, getText, NotTried } from '../check.ts';
import type { AreaScenarios } from '../scenario.ts';
import type { Answer, ServerClient } from '../server-client.ts';
import { agentRun, approvalRun, unknownId } from './agents.ts';

const requireFirst = (server: ServerClient): void => {
  if (!server.has('first')) throw new NotTried('needs --header with a credential');
};
const requireBoth = (server: ServerClient): void => {
  requireFirst(server);
  if (!server.has('second')) throw new NotTried('needs --second-header with the credential of another user');
};

const second = { caller: 'second' } as const;

/** The response without the id in the request, for comparison. */
const anonymous = ({ status, text }: Answer, id: string): string =>
  `${status} ${text.replaceAll(id, '<id>').replaceAll(/("request_id"\s*:\s*)"[^"]*"/g, '$1""')}`;

/** The second user gets the same response for an id of the first user as for an unknown one. */
const checkHidden = async (
  server: ServerClient,
  id: string,
  request: (id: string) => [method: string, path: string, body?: unknown],
): Promise<void> => {
  const missing = unknownId();
  const [method, path, body] = request(id);
  const hers = await server.send(method, path, body, second);
  const [, unknownPath, unknownBody] = request(missing);
  const unknown = await server.send(method, unknownPath, unknownBody, second);
  checkStatus(hers, 403, 404);
  checkEqual(
    `${method} ${path.replace(id, '<id>')} of another user`,
    anonymous(hers, id),
    anonymous(unknown, missing),
  );
};

export const access: AreaScenarios = {
  area: 'access',
  scenarios: {
    'requests without a credential, or with an invalid one, get 401': async (server) => {
      requireFirst(server);
      const requests = [
        ['GET', `/threads/${unknownId()}`],
        ['POST', '/threads/search'],
        ['POST', '/runs/wait'],
        ['POST', '/assistants/search'],
      ] as const;
      for (const [method, path] of requests) {
        const body = method === 'POST' ? {} : undefined;
        checkStatus(await server.send(method, path, body, { caller: 'nobody' }), 401, 403);
        const headers = { authorization: 'Bearer not-a-credential', 'x-api-key': 'not-a-credential' };
        checkStatus(await server.send(method, path, body, { caller: 'nobody', headers }), 401, 403);
      }
    },
    'a thread of another user gets the same responses as an unknown thread': async (server) => {
      requireBoth(server);
      const id = await server.newThread();
      await checkHidden(server, id, (of) => ['GET', `/threads/${of}`]);
      await checkHidden(server, id, (of) => ['GET', `/threads/${of}/state`]);
      await checkHidden(server, id, (of) => ['POST', `/threads/${of}/history`, {}]);
      await checkHidden(server, id, (of) => ['PATCH', `/threads/${of}`, { metadata: { mine: true } }]);
      await checkHidden(server, id, (of) => ['DELETE', `/threads/${of}`]);
      checkStatus(await server.send('GET', `/threads/${id}`), 200);
    },
    'a search does not find threads of another user': async (server) => {
      requireBoth(server);
      const mark = unknownId();
      const id = await server.newThread({ metadata: { mark } });
      const search = { metadata: { mark } };
      const own = getList(await server.call('POST', '/threads/search', search));
      checkEqual(
        'threads of the first user',
        own.map((thread) => get(thread, 'thread_id')),
        [id],
      );
      checkEqual(
        'threads of the second user',
        await server.call('POST', '/threads/search', search, second),
        [],
      );
    },
    'a user cannot read, join, cancel or create runs on a thread of another user': async (server) => {
      requireBoth(server);
      const id = await server.newThread();
      const run_id = getText(await server.call('POST', `/threads/${id}/runs`, agentRun(server)), 'run_id');
      const path = (of: string): string => `/threads/${of}/runs`;
      await checkHidden(server, id, (of) => ['GET', `${path(of)}/${run_id}`]);
      await checkHidden(server, id, (of) => ['GET', `${path(of)}/${run_id}/join`]);
      await checkHidden(server, id, (of) => ['POST', `${path(of)}/${run_id}/cancel`]);
      await checkHidden(server, id, (of) => ['POST', path(of), agentRun(server)]);
      await checkHidden(server, id, (of) => ['POST', `${path(of)}/stream`, agentRun(server)]);
      await server.call('GET', `${path(id)}/${run_id}/join`);
      checkEqual('runs of the thread', getList(await server.call('GET', path(id))).length, 1);
    },
    'a user cannot answer an interrupt of another user': async (server) => {
      requireBoth(server);
      const id = await server.newThread();
      await server.call('POST', `/threads/${id}/runs/wait`, approvalRun(server));
      const answer = { assistant_id: server.approval, command: { resume: { approve: true } } };
      await checkHidden(server, id, (of) => ['POST', `/threads/${of}/runs/wait`, answer]);
      const state = await server.call('GET', `/threads/${id}/state`);
      check(getList(state, 'next').length > 0, 'the thread to wait still', state);
    },
    'an assistant of another user gets the same responses as an unknown assistant': async (server) => {
      requireBoth(server);
      const created = await server.call('POST', '/assistants', { graph_id: server.agent, name: 'mine' });
      const id = getText(created, 'assistant_id');
      try {
        await checkHidden(server, id, (of) => ['GET', `/assistants/${of}`]);
        await checkHidden(server, id, (of) => ['PATCH', `/assistants/${of}`, { name: 'taken' }]);
        await checkHidden(server, id, (of) => ['DELETE', `/assistants/${of}`]);
        await checkHidden(server, id, (of) => [
          'POST',
          '/runs/wait',
          { ...agentRun(server), assistant_id: of },
        ]);
      } finally {
        await server.call('DELETE', `/assistants/${id}`);
      }
    },
  },
};
