// Requests with credentials and secrets of users, which must not be in the log of the server of access/project.
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openSocket, refusal } from '../thread-protocol/socket.ts';

export const project = fileURLToPath(new URL('./project/svc.json', import.meta.url));

export const studioKey = 'studio-key-canary-0123456789-0123456789';

/** What the log must not contain, beside the ticket. */
export const canaries = /canary|Bearer|secret-of-alice/;

/** `actions`: those of the graph. Returns the ticket of a WebSocket. */
export const sendCanaries = async (url: string, actions: readonly string[]): Promise<string> => {
  const send = (path: string, headers: Record<string, string>, body: object) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const alice = { authorization: 'Bearer alice', 'x-canary': 'header-canary' };
  const run = (action: string) => ({ assistant_id: 'probe', input: { action, note: 'input-canary' } });
  for (const action of actions) await (await send('/runs/wait', alice, run(action))).text();
  await (await send('/runs/wait?q=query-canary', alice, run('user'))).text();
  await send('/threads', { authorization: 'Bearer wrong-canary!' }, {});
  await send('/threads', { 'x-auth-scheme': 'langsmith', 'x-api-key': 'guess-canary' }, {});
  await send('/threads', { 'x-auth-scheme': 'langsmith', 'x-api-key': studioKey }, {});
  const { ticket } = (await (await send('/auth/tickets', alice, {})).json()) as { ticket: string };
  const query = `?ticket=${ticket}`;
  (await openSocket(url, randomUUID(), { query })).ws.close();
  await refusal(openSocket(url, randomUUID(), { query }));
  return ticket;
};
