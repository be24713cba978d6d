import type { Scenario } from '../scenario.ts';

export const store: Scenario = {
  name: 'store',
  async run(wire) {
    const put = (step: string, namespace: string[], key: string, value: unknown) =>
      wire.call(step, 'PUT', '/store/items', { body: { namespace, key, value } });
    await put('put', ['users', 'ada'], 'profile', { name: 'Ada', age: 36 });
    await put('put again', ['users', 'ada'], 'profile', { name: 'Ada', age: 37 });
    await put('put another', ['users', 'bob'], 'profile', { name: 'Bob', age: 20 });
    await wire.call('get', 'GET', '/store/items?key=profile&namespace=users.ada');
    await wire.call('get nothing', 'GET', '/store/items?key=nothing&namespace=users.ada');
    const search = (step: string, body: object) => wire.call(step, 'POST', '/store/items/search', { body });
    await search('search', { namespace_prefix: ['users', 'ada'] });
    await search('search by value', { namespace_prefix: ['users'], filter: { name: 'Bob' } });
    await search('search by comparison', { namespace_prefix: ['users'], filter: { age: { $gt: 30 } } });
    await search('search nothing', { namespace_prefix: ['nobody'] });
    const list = (step: string, body: object) => wire.call(step, 'POST', '/store/namespaces', { body });
    await list('namespaces', { prefix: ['users'] });
    await list('namespaces, depth', { prefix: ['users'], max_depth: 1 });
    await list('namespaces, suffix', { suffix: ['bob'] });
    await put('put without namespace', [], 'x', {});
    await put('put with an empty label', ['a', ''], 'x', {});
    await put('put with a period', ['a.b'], 'x', {});
    await put('put what is no object', ['a'], 'x', 'text');
    await wire.call('delete', 'DELETE', '/store/items', {
      body: { namespace: ['users', 'ada'], key: 'profile' },
    });
    await wire.call('delete again', 'DELETE', '/store/items', {
      body: { namespace: ['users', 'ada'], key: 'profile' },
    });
  },
};
