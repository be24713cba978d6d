// The Python clients work with the server as they are.
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { startPlatform } from '../platform/platform-server.ts';
import { testPythonClients } from './client-tests.ts';
import { itWithPythonClients, runPython } from './python.ts';

testPythonClients('langgraph.json');

itWithPythonClients(
  'every method of the Python tracer works or gets 501, as docs/stock-tracers.md says',
  async () => {
    await using platform = await startPlatform({ encryptionKey: 'ab'.repeat(32) });
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
