// npm run idp: serves the other parts of the example at http://localhost:3000, on this machine only: an identity provider, the
// calendar service that the graph calls, and the page.
import { readFile } from 'node:fs/promises';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { calendar } from './demo/calendar.ts';
import { createIdentityProvider } from './demo/identity-provider.ts';

const port = 3000;
const issuer = `http://localhost:${port}`;

const page = (name: string): Promise<string> => readFile(new URL(`page/${name}`, import.meta.url), 'utf8');

const { app: provider } = await createIdentityProvider(issuer);
const app = new Hono()
  .route('/', provider)
  .route('/calendar', calendar)
  .get('/', async (context) => context.html(await page('index.html')))
  .get('/page.js', async (context) =>
    context.body(await page('page.js'), 200, { 'content-type': 'text/javascript; charset=utf-8' }),
  );

const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, () =>
  console.log(`The page is at ${issuer}: log in as alice (wonderland) or bob (builder).`),
);
server.on('error', ({ message }) => {
  console.error(`The example must listen on port ${port}, which its svc.json refers to: ${message}`);
  process.exit(1);
});
