// A reader that may no longer read the thread, because the metadata that an auth handler filters by has changed.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startTestServer } from '../server.ts';
import { command } from './command.ts';
import { allChannels, readFeed } from './feed.ts';
import { openSocket } from './socket.ts';
import { fixture } from '../fixture.ts';

const project = fileURLToPath(new URL('../access/project/svc.json', import.meta.url));

const server = fixture(() => startTestServer({ project }));

const headers = { authorization: 'Bearer alice' };
const give = (thread_id: string, owner: string) =>
  server.database.query(
    {
      name: 'give_thread',
      text: `update threads set metadata = metadata || jsonb_build_object('owner', $2::text) where thread_id = $1`,
    },
    [thread_id, owner],
  );

it.each(['idle', 'busy'])(
  'a feed of a thread that is %s ends when the thread gets another owner',
  async (status) => {
    const thread_id = randomUUID();
    const params = { assistant_id: 'probe', input: { action: status === 'busy' ? 'wait' : 'user' } };
    await command(server, thread_id, 'run.start', params, 1, headers);
    // Expected from now on: the feed may end before the socket.
    const ended = expect(readFeed(server.url, thread_id, () => false, {}, headers)).rejects.toThrow(
      'The feed has ended',
    );
    const socket = await openSocket(server.url, thread_id, { headers });
    await socket.command('subscription.subscribe', { channels: allChannels });
    await socket.until(
      ({ params: { data } }) => data['event'] === (status === 'busy' ? 'started' : 'completed'),
    );
    await give(thread_id, 'bob');
    await ended;
    expect(await socket.closed).toMatchObject({ code: 4404 });
    const before = socket.events.length;
    const bob = { authorization: 'Bearer bob' };
    await command(server, thread_id, 'run.start', { ...params, input: { action: 'user' } }, 2, bob);
    expect(socket.events).toHaveLength(before);
  },
);
