// The Python clients work with the server as they are.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { startPlatform } from '../platform/platform-server.ts';
import { startTestServer } from '../server.ts';
import { itWithPythonClients, runPython } from './python.ts';

const project = fileURLToPath(new URL('./langgraph.json', import.meta.url));

itWithPythonClients(
  'every method of the Python clients returns what the types of the SDK promise',
  async () => {
    await using server = await startTestServer({ project });
    expect(await runPython('every_method.py', server.url)).toEqual([]);
  },
);

itWithPythonClients(
  'every method of the Python tracer works or gets 501, as docs/stock-tracers.md says',
  async () => {
    await using platform = await startPlatform();
    const { works, refused, problems } = (await runPython(
      'every_langsmith_method.py',
      platform.apiUrl,
      platform.key,
    )) as Record<'works' | 'refused' | 'problems', string[]>;
    expect(problems).toEqual([]);
    expect(refused).toContain('Client.read_dataset');
    const names = new Set(works.map((name) => name.replace(/.*\./, '')));
    const page = readFileSync(new URL('../../../../docs/stock-tracers.md', import.meta.url), 'utf8');
    const [, listed = ''] = /^## Python\n[^]*?These work:\n\n([^]*?)\n\n/m.exec(page) ?? [];
    expect(listed.match(/[a-z_]+/g)).toEqual([...names].toSorted());
  },
);

itWithPythonClients(
  'thread streams of the Python clients read messages, tool calls, subgraphs and custom events',
  async () => {
    await using server = await startTestServer({ project });
    const messages = ['', 'it snows', 'in Oslo'];
    const read = {
      messages,
      tool_calls: [['weather', { city: 'Oslo' }, 'snow in Oslo']],
      subgraphs: [['sub', ['deep thought'], 'completed']],
      progress: [
        { name: 'progress', done: 1 },
        { name: 'progress', payload: { done: 2 } },
      ],
      custom: [
        'a text',
        { at: 1 },
        { name: 'progress', done: 1 },
        { name: 'progress', payload: { done: 2 } },
      ],
    };
    expect(await runPython('thread_protocol.py', server.url)).toEqual({
      sse: read,
      websocket: read,
      remote: messages,
    });
  },
);
