// Two answers to one interrupt: the second is checked when the run of the first has ended.
import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rpcTo, dataMessage, textMessage } from '../a2a/agent.ts';
import { authProjects, type AuthProjects } from '../access/auth-projects.ts';
import { eventually } from '../eventually.ts';
import type { TestServer } from '../server.ts';
import { command } from './command.ts';

let projects: AuthProjects;
let server: TestServer;
/** The handler of a late user waits for the response to its request here. */
const held: ServerResponse[] = [];
const gate = createServer((_, response) => void held.push(response));

beforeAll(async () => {
  await new Promise<void>((done) => gate.listen(0, '127.0.0.1', done));
  const { port } = gate.address() as AddressInfo;
  projects = authProjects();
  server = await projects.serve(
    `export const auth = new Auth()
      .authenticate((request) => ({ identity: request.headers.get('authorization') ?? '' }))
      .on('*', async ({ event, user }) => {
        const isHeld = event === 'threads:create_run' && user.identity.includes('late');
        if (isHeld) await fetch('http://127.0.0.1:${port}');
        return true;
      });`,
    { settings: { authTimeoutMs: 60_000 } },
  );
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  projects[Symbol.dispose]();
  gate.close();
});

const send = (user: string, thread_id: string, method: string, params: object) =>
  command(server, thread_id, method, params, undefined, { authorization: user });
const release = (): void => void held.shift()?.end();

interface Thread {
  interrupts: Record<string, { id: string }[]>;
}

const runsOf = async (thread_id: string) =>
  (await server.call('GET', `/threads/${thread_id}/runs`, undefined, { authorization: 'early' }))
    .body as object[];

const early = { authorization: 'early' };
const statusOf = async (thread_id: string) =>
  ((await server.call('GET', `/threads/${thread_id}`, undefined, early)).body as { status: string }).status;

it('of input.respond: it is refused', async () => {
  const thread_id = randomUUID();
  const question = { assistant_id: 'probe', input: { action: 'approve' } };
  expect(await send('early', thread_id, 'run.start', question)).toMatchObject({ type: 'success' });
  await eventually(async () => expect(await statusOf(thread_id)).toBe('interrupted'));
  const { body } = await server.call('GET', `/threads/${thread_id}`, undefined, early);
  const [{ id: interrupt_id }] = Object.values((body as Thread).interrupts).flat() as [{ id: string }];
  const answer = (user: string) => send(user, thread_id, 'input.respond', { interrupt_id, response: user });

  const second = answer('late');
  await eventually(() => expect(held).toHaveLength(1));
  expect(await answer('early')).toMatchObject({ type: 'success' });
  await eventually(async () => expect(await statusOf(thread_id)).toBe('idle'));
  release();

  expect(await second).toMatchObject({ type: 'error', error: 'no_such_interrupt' });
  expect(await runsOf(thread_id)).toHaveLength(2);
});

it('of an A2A task: it is refused', async () => {
  const agent = rpcTo(server, 'probe');
  const sending = (user: string, message: object) =>
    agent('message/send', { message }, { authorization: user });
  const { body } = await sending('early', dataMessage({ action: 'approve' }));
  expect(body).toMatchObject({ result: { status: { state: 'input-required' } } });
  const { id: taskId, contextId = '' } = body.result ?? {};

  const second = sending('late', textMessage('late', { taskId }));
  await eventually(() => expect(held).toHaveLength(1));
  const { body: first } = await sending('early', textMessage('early', { taskId }));
  expect(first.result?.status?.state).toBe('completed');
  release();

  expect((await second).body.error).toMatchObject({ code: -32_004 });
  expect(await runsOf(contextId)).toHaveLength(2);
});
