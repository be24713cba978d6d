// The Python clients work with the server as they are.
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
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
