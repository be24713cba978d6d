// Servers with an app that receives webhooks.
import { createClient } from '@svc/sdk';
import { secret } from '../webhooks/queue.ts';
import { type CustomOptions, startCustomServer } from './custom-server.ts';

const app = `
const received = [];
let failures = 1;
export const app = new Hono();
app.post('/hooks/:name', async (c) => {
  const text = await c.req.text();
  received.push({ url: c.req.url, headers: c.req.header(), text, body: JSON.parse(text) });
  if (c.req.param('name') === 'flaky' && failures-- > 0) return c.text('not yet', 503);
  if (c.req.param('name') === 'throws') throw new Error('no');
  return c.json({ ok: true });
});
app.get('/received', (c) => c.json(received));
`;

const headers = { authorization: 'Bearer abc', 'x-sent-by': 'svc' };
/** Sections of a project whose webhooks may be paths. `secret_domains`: hosts that get the header with a secret. */
export const openFor = (secret_domains: string[]) => ({
  webhooks: { headers, secret_domains, url: { disable_loopback: false } },
});
/** Of the graph probe. */
export const input = { do: 'date' };

export const startWebhookServer = async (options: CustomOptions) => {
  const server = await startCustomServer(app, {
    ...options,
    settings: { webhookSecret: secret, ...options.settings },
  });
  return { server, client: createClient({ apiUrl: server.url }) };
};
