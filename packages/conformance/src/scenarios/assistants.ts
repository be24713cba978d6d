import { check, checkEqual, checkStatus, get, getList } from '../check.ts';
import type { AreaScenarios } from '../scenario.ts';
import { unknownId, withAssistant } from './agents.ts';

export const assistants: AreaScenarios = {
  area: 'assistants',
  scenarios: {
    'a search by graph finds only assistants of this graph': (server) =>
      withAssistant(server, async (id) => {
        const search = { graph_id: server.agent, metadata: { conformance: true }, limit: 100 };
        const found = getList(await server.call('POST', '/assistants/search', search));
        check(
          found.some((assistant) => get(assistant, 'assistant_id') === id),
          'the assistant',
          found,
        );
        for (const assistant of found) checkEqual('graph_id', get(assistant, 'graph_id'), server.agent);
      }),
    'the schemas of an assistant have its input': (server) =>
      withAssistant(server, async (id) => {
        const schemas = await server.call('GET', `/assistants/${id}/schemas`);
        const input = get(schemas, 'input_schema', 'properties', 'messages');
        check(input !== undefined, 'messages in the input schema', schemas);
      }),
    'an assistant is created, read, found and deleted': async (server) => {
      let deleted = '';
      await withAssistant(server, async (id) => {
        deleted = id;
        checkEqual('name', get(await server.call('GET', `/assistants/${id}`), 'name'), 'conformance');
        const search = { metadata: { conformance: true }, limit: 100 };
        const found = getList(await server.call('POST', '/assistants/search', search));
        check(
          found.some((one) => get(one, 'assistant_id') === id),
          'a search by metadata to find it',
          found,
        );
      });
      checkStatus(await server.send('GET', `/assistants/${deleted}`), 404);
    },
    'a change creates a new version, and an older version can be selected again': (server) =>
      withAssistant(server, async (id) => {
        const changed = await server.call('PATCH', `/assistants/${id}`, { name: 'changed' });
        checkEqual('version', get(changed, 'version'), 2);
        const versions = getList(await server.call('POST', `/assistants/${id}/versions`, {}));
        const numbers = versions.map((one) => Number(get(one, 'version')));
        checkEqual(
          'versions',
          numbers.toSorted((a, b) => a - b),
          [1, 2],
        );
        const latest = await server.call('POST', `/assistants/${id}/latest`, { version: 1 });
        checkEqual('name of version 1', get(latest, 'name'), 'conformance');
      }),
    'an unknown assistant gets 404': async (server) =>
      checkStatus(await server.send('GET', `/assistants/${unknownId()}`), 404),
  },
};
