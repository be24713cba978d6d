import { expect, it } from 'vitest';
import { createProject } from '../../../test/cli/cli-process.ts';
import { loadConfig } from '../../config/config.ts';
import { banner } from './banner.ts';

it.each([
  [{ auth: { kind: 'header', name: 'x-team-key' } }, `-H 'x-team-key: …'`],
  [{ auth: { kind: 'bearer' } }, `-H 'authorization: …'`],
])('the example request has the header of console.auth %o', (console, header) => {
  using project = createProject({
    graphs: { agent: './agent.ts:graph' },
    auth: { path: './agent.ts:graph' },
    console,
  });
  const config = loadConfig({ cwd: project.dir, env: {}, flags: {} });
  const text = banner({ url: 'http://127.0.0.1:2024', graphs: ['agent'] }, config, { isTerminal: false });
  expect(text).toContain(`/runs/wait ${header} -H 'content-type: application/json'`);
});
