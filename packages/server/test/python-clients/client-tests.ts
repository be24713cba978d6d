// The tests of the Python clients for graphs of one language. A project has the graphs `chat`, `nested` and `team`.
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { fixture } from '../fixture.ts';
import { startTestServer } from '../server.ts';
import { itWithPythonClients, runPython } from './python.ts';

/** `file`: the config file of the project, in this folder. */
export const testPythonClients = (file: string): void => {
  const project = fileURLToPath(new URL(file, import.meta.url));
  const server = fixture(() => startTestServer({ project, executors: 'ready' }));

  itWithPythonClients(
    'every method of the Python clients returns what the types of the SDK promise',
    async () => {
      expect(await runPython('every_method.py', server.url)).toEqual([]);
    },
  );

  itWithPythonClients(
    'thread streams of the Python clients read messages, tool calls, subgraphs and custom events',
    async () => {
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
};
