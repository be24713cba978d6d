import { Client } from '@langchain/langgraph-sdk';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';

interface EndedRun {
  run_id: string;
  status: string;
}

/** A program would store them in a database: there may be several server processes. */
const ended: EndedRun[] = [];

// Without a URL, the client calls the server that serves this app.
const client = new Client();

export const app = new Hono();

// Middleware runs around the routes of the server too.
app.use(async (context, next) => {
  const startedMs = performance.now();
  await next();
  context.header('server-timing', `app;dur=${Math.round(performance.now() - startedMs)}`);
});

app.get('/greet/:name', async (context) => {
  const input = { name: context.req.param('name') };
  const { greeting } = (await client.runs.wait(null, 'greeter', { input })) as { greeting?: string };
  if (greeting === undefined) throw new HTTPException(502, { message: 'The run has failed.' });
  return context.json({ greeting });
});

// Gets the webhooks of runs that are created with "webhook": "/hooks/run".
app.post('/hooks/run', async (context) => {
  const { run_id, status } = await context.req.json<EndedRun>();
  ended.push({ run_id, status });
  return context.json({ ok: true });
});

app.get('/ended-runs', (context) => context.json(ended));
