import { check, checkEqual, checkStatus, get, getText } from '../check.ts';
import type { AreaScenarios } from '../scenario.ts';
import { unknownId } from './agents.ts';

export const system: AreaScenarios = {
  area: 'system',
  scenarios: {
    'GET /ok says that the server is up, without a credential': async (server) => {
      const answer = await server.send('GET', '/ok', undefined, { caller: 'nobody' });
      checkStatus(answer, 200);
      checkEqual('ok', get(answer.body, 'ok'), true);
    },
    'GET /info has the version and flags, without a credential': async (server) => {
      const answer = await server.send('GET', '/info', undefined, { caller: 'nobody' });
      checkStatus(answer, 200);
      getText(answer.body, 'version');
      check(typeof get(answer.body, 'flags') === 'object', 'flags as an object', answer.body);
    },
    'an unknown path gets 404': async (server) =>
      checkStatus(await server.send('GET', '/no/such/route'), 404),
    'a body that is not JSON gets 4xx': async (server) =>
      checkStatus(await server.send('POST', '/threads/search', '{'), 400, 422),
    'a value of the wrong type gets 400 or 422': async (server) =>
      checkStatus(await server.send('POST', '/threads/search', { limit: 'many' }), 400, 422),
    'an id that is not a UUID gets 4xx': async (server) => {
      checkStatus(await server.send('GET', '/threads/not-a-uuid'), 400, 404, 422);
      checkStatus(await server.send('GET', `/threads/${unknownId()}`), 404);
    },
  },
};
