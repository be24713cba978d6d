// A thread that gets another owner between the statements of a request.
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { lockWaiters } from '../lock-waiters.ts';
import { authProjects, ownersOnly } from './auth-projects.ts';
import { fixture } from '../fixture.ts';

const projects = fixture(() => authProjects());

it('is left out of a search that has found it for its first owner', async () => {
  await using server = await projects.serve(ownersOnly);
  const call = (user: string, method: string, path: string, body?: unknown) =>
    server.call(method, path, body, { 'x-user': user });
  const threadOf = async (user: string): Promise<string> => {
    const { thread_id } = (await call(user, 'POST', '/threads', {})).body as { thread_id: string };
    await call(user, 'POST', `/threads/${thread_id}/runs/wait`, {
      assistant_id: 'probe',
      input: { action: 'user' },
    });
    return thread_id;
  };
  const [given, kept] = [await threadOf('ann'), await threadOf('ann')];
  let answer: ReturnType<typeof call> | undefined;
  await server.database.transact(async (tx) => {
    // The search has its page, and waits for the states.
    await tx.script('lock table checkpoint_heads in access exclusive mode');
    answer = call('ann', 'POST', '/threads/search', { select: ['thread_id', 'values'] });
    await eventually(async () => expect(await lockWaiters(server.database)).not.toHaveLength(0));
    await tx.script(
      `update threads set metadata = metadata || '{"owner": "ben"}' where thread_id = '${given}'`,
    );
  });
  expect((await answer)?.body).toMatchObject([{ thread_id: kept }]);
});
