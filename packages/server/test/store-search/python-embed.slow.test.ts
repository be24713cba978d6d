// store.index.embed in Python.
import { readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { python, whyNoPythonClients } from '../python-clients/python.ts';
import { startTestServer } from '../server.ts';
import { embedProjects, item } from './embed-projects.ts';

const code = `import os
from langchain_core.embeddings import Embeddings


def vector(text):
    return [1.0, 0.0] if "cat" in text else [0.0, 1.0]


def embed(texts):
    if any("crash" in text for text in texts):
        os._exit(1)
    return [vector(text) for text in texts]


async def embed_async(texts):
    return [vector(text) for text in texts]


class Model(Embeddings):
    def embed_documents(self, texts):
        return embed(texts)

    def embed_query(self, text):
        return vector(text)


model = Model()
`;

describe.skipIf(whyNoPythonClients() !== undefined)('an embedding model in Python', () => {
  it.each(['embed', 'embed_async', 'model'])('finds items by meaning: %s', async (name) => {
    using projects = embedProjects();
    const project = projects.write(`./embed.py:${name}`, { 'embed.py': code });
    symlinkSync(join(python, '../..'), join(dirname(project), '.venv'));
    await using server = await startTestServer({ project, executors: 'ready' });
    const put = (key: string, text: string) => server.call('PUT', '/store/items', item(key, { text }));
    expect((await put('one', 'a cat')).status).toBe(204);
    expect((await put('two', 'a dog')).status).toBe(204);
    const search = async () => {
      const body = { namespace_prefix: ['a'], query: 'my cat', limit: 1 };
      const { body: found } = await server.call('POST', '/store/items/search', body);
      return (found as { items: { key: string }[] }).items.map(({ key }) => key);
    };
    expect(await search()).toEqual(['one']);
    if (name !== 'embed') return;
    // The process ends with this text, and is started again for the next one.
    expect((await put('three', 'crash')).status).toBeGreaterThanOrEqual(500);
    await eventually(async () => expect(await search()).toEqual(['one']));
  });

  it('is started again once for all calls that find its process ended', async () => {
    using projects = embedProjects();
    const counted = `${code}\nwith open(__file__ + ".starts", "a") as file:\n    file.write("x")\n`;
    const project = projects.write('./embed.py:embed', { 'embed.py': counted });
    symlinkSync(join(python, '../..'), join(dirname(project), '.venv'));
    await using server = await startTestServer({ project, executors: 'ready' });
    const starts = () => readFileSync(join(dirname(project), 'embed.py.starts'), 'utf8').length;
    expect((await server.call('PUT', '/store/items', item('one', { text: 'crash' }))).status).toBe(503);
    expect(starts()).toBe(1);
    const puts = Array.from({ length: 5 }, (_, at) =>
      server.call('PUT', '/store/items', item(`cat ${at}`, { text: `cat ${at}` })),
    );
    expect((await Promise.all(puts)).map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    expect(starts()).toBe(2);
  });
});
