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
