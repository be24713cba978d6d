// Copies threads with their newest state, and the items of the store, from the server at OLD_URL to the one at NEW_URL: docs/migration.md.
import { Client } from '@langchain/langgraph-sdk';

const from = new Client({ apiUrl: process.env['OLD_URL'] as string });
const to = new Client({ apiUrl: process.env['NEW_URL'] as string });

for (let offset = 0; ; offset += 100) {
  const page = await from.threads.search({ limit: 100, offset, sortBy: 'created_at', sortOrder: 'asc' });
  for (const { thread_id, metadata } of page) {
    const [state, before] = await from.threads.getHistory(thread_id, { limit: 2 });
    const graphId = metadata?.['graph_id'];
    const asNode = before?.next[0];
    const isKnown = state !== undefined && asNode !== undefined && typeof graphId === 'string';
    await to.threads.create({
      threadId: thread_id,
      metadata: metadata ?? {},
      ifExists: 'do_nothing',
      ...(isKnown ? { graphId, supersteps: [{ updates: [{ values: state.values, asNode }] }] } : {}),
    });
  }
  if (page.length < 100) break;
}

for (let offset = 0; ; offset += 100) {
  const { items } = await from.store.searchItems([], { limit: 100, offset });
  for (const { namespace, key, value } of items) await to.store.putItem(namespace, key, value);
  if (items.length < 100) break;
}
