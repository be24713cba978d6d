// Notifications of changed runs of two users.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { openChanges } from '../runs/run-change-client.ts';
import { startTestServer } from '../server.ts';
import { fixture } from '../fixture.ts';

const server = fixture(() =>
  startTestServer({
    project: fileURLToPath(new URL('./project/svc.json', import.meta.url)),
  }),
);

const as = (user: string) => ({ authorization: `Bearer ${user}` });
const probe = { assistant_id: 'probe', input: { action: 'user' } };

const start = async (user: string): Promise<string> => {
  const thread_id = randomUUID();
  const run = { ...probe, if_not_exists: 'create' };
  expect((await server.call('POST', `/threads/${thread_id}/runs`, run, as(user))).status).toBe(200);
  return thread_id;
};

it('a user is not notified of runs of another user', async () => {
  await using hers = await openChanges(server.url, as('alice'));
  await using his = await openChanges(server.url, as('bob'));
  await hers.named(await start('alice'));
  expect((await server.call('POST', '/runs', probe, as('alice'))).status).toBe(200);
  await hers.named(await start('alice'));
  const own = await start('bob');
  await his.named(own);
  await eventually(() => expect(new Set(his.notifications.slice(1).flat())).toEqual(new Set([own])));
});
