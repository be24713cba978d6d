// A program of its own with a handler: it imports the package by its name, and ends when the handler is closed.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createProjectFolder, replying } from '../projects/project-folder.ts';

const program = `
import { createServer } from 'node:http';
import { once } from 'node:events';
import { runInNewContext } from 'node:vm';
import { createSvcHandler } from '@svc/server';

const globals = [Request, Response];
await using svc = await createSvcHandler({ prefix: '/agents', allowAnonymous: true, url: 'http://127.0.0.1:1' });
const server = createServer(svc.node).listen(0, '127.0.0.1');
await once(server, 'listening');
const response = await fetch(\`http://127.0.0.1:\${server.address().port}/agents/runs/wait\`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ assistant_id: 'agent', input: { messages: [] } }),
});
const { messages } = await response.json();
console.log(messages.at(-1).content, globals[0] === Request && globals[1] === Response, runInNewContext('typeof gc'));
server.close();
server.closeAllConnections();
`;

it('a program runs a graph with its own PostgreSQL, keeps its global objects and the flags of V8, and ends', async () => {
  using folder = createProjectFolder();
  folder.write({
    'package.json': { type: 'module' },
    'agent.ts': replying("'from the program'"),
    'svc.json': { graphs: { agent: './agent.ts:graph' } },
    'program.ts': program,
  });
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', 'program.ts'], {
    cwd: folder.dir,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], SVC_LOG_LEVEL: 'warn' },
  });
  expect(stdout).toBe('from the program true undefined\n');
});
