import { checkEqual, checkStatus, get, getList, NotTried } from '../check.ts';
import type { AreaScenarios } from '../scenario.ts';
import type { ServerClient } from '../server-client.ts';
import { unknownId } from './agents.ts';

const withItem = async (
  server: ServerClient,
  use: (namespace: string[], key: string) => Promise<void>,
): Promise<void> => {
  const namespace = ['conformance', unknownId()];
  const key = 'one';
  const stored = await server.send('PUT', '/store/items', { namespace, key, value: { n: 1 } });
  if (stored.status === 403) throw new NotTried('the caller may not write to the namespace conformance');
  checkStatus(stored, 200, 204);
  try {
    await use(namespace, key);
  } finally {
    await server.call('DELETE', '/store/items', { namespace, key });
  }
};

const path = (namespace: string[], key: string): string =>
  `/store/items?key=${key}&namespace=${namespace.join('.')}`;

export const store: AreaScenarios = {
  area: 'store',
  absent: async (server) => {
    const { status } = await server.send('POST', '/store/items/search', { namespace_prefix: [], limit: 1 });
    return status === 404 ? 'the server has no store' : undefined;
  },
  scenarios: {
    'an item is stored, read, replaced and deleted': async (server) => {
      let gone = '';
      await withItem(server, async (namespace, key) => {
        gone = path(namespace, key);
        checkEqual('value', get(await server.call('GET', gone), 'value'), { n: 1 });
        await server.call('PUT', '/store/items', { namespace, key, value: { n: 2 } });
        checkEqual('value', get(await server.call('GET', gone), 'value'), { n: 2 });
      });
      const answer = await server.send('GET', gone);
      checkStatus(answer, 200, 404);
      if (answer.status === 200) checkEqual('the deleted item', answer.body, null);
    },
    'a search finds items by namespace and by value': (server) =>
      withItem(server, async (namespace_prefix, key) => {
        const search = async (filter: object) =>
          getList(
            await server.call('POST', '/store/items/search', { namespace_prefix, filter }),
            'items',
          ).map((item) => get(item, 'key'));
        checkEqual('items', await search({}), [key]);
        checkEqual('items with n = 1', await search({ n: 1 }), [key]);
        checkEqual('items with n = 2', await search({ n: 2 }), []);
      }),
    'namespaces are listed by prefix': (server) =>
      withItem(server, async (namespace) => {
        const found = await server.call('POST', '/store/namespaces', { prefix: namespace });
        checkEqual('namespaces', get(found, 'namespaces') ?? found, [namespace]);
      }),
  },
};
