// Every page in light and dark: no serious finding of axe, and the pictures of the documentation.
//   SVC_SCREENSHOTS=on npm run test:console -- pages.test    writes docs/console/*.png, in light colours
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scaled } from '../../server/test/speed.ts';
import { describeInBrowser, seriousFindings, useConsole, type Page } from './browser.ts';
import { run, says } from './conversations.ts';
import { bucket, folder, startExport, untilRetried } from './exports.ts';
import { listen, type Receiver } from './receiver.ts';
import { quotaExceeded, startObjectStore, type ObjectStore } from './object-store.ts';
import { enterKey, tracesOf } from './traces.ts';

const pictures = join(import.meta.dirname, '../../../docs/console');
const writesPictures = process.env['SVC_SCREENSHOTS'] === 'on';

interface Shown {
  name: string;
  path: string;
  /** Resolves when the page shows what the picture is of. */
  ready: (page: Page) => Promise<void>;
}

describeInBrowser('every page', () => {
  const console = useConsole();
  const shown: Shown[] = [];
  let store: ObjectStore | undefined;
  let hooks: Receiver | undefined;

  afterAll(() => store?.[Symbol.asyncDispose]());
  afterAll(() => hooks?.[Symbol.asyncDispose]());

  beforeAll(async () => {
    const { client } = console;
    const talk = await run(client, 'agent', says('What is the weather in Oslo?'), { customer: 'acme' });
    await client.runs.wait(talk.threadId, 'agent', { input: says('And what is 12 + 30?') });
    const failed = await run(client, 'patient', says('fail'), { customer: 'acme' });
    const waiting = await run(client, 'approval', { topic: 'the summer party' });
    await run(client, 'approval', { topic: 'the new office' });
    const later = await client.threads.create({ graphId: 'agent' });
    const input = says('Remind me');
    const pending = await client.runs.create(later.thread_id, 'agent', { input, after_seconds: 3_600 });
    const { thread_id: queuedThread } = await client.threads.create({ graphId: 'agent' });
    const question = says('What is 12 + 30?');
    const delayed = await client.runs.create(queuedThread, 'agent', { input: question, after_seconds: 1 });
    const queued = await client.runs.create(queuedThread, 'agent', { input: question, after_seconds: 1 });
    const text = (page: Page, sentence: string) => page.getByText(sentence).first().waitFor();
    const graph = (page: Page) => page.locator('.react-flow__edge').first().waitFor({ state: 'attached' });
    shown.push(
      {
        name: 'home',
        path: '/',
        ready: async (page) => {
          await page.getByRole('row').nth(4).waitFor();
          await page.getByRole('figure', { name: 'Ended runs' }).locator('canvas').waitFor();
        },
      },
      {
        name: 'playground',
        path: '/playground?assistant=agent&panel=state',
        ready: async (page) => {
          await graph(page);
          await page.getByLabel('Message', { exact: true }).fill('What is the weather in Oslo?');
          await page.keyboard.press('Enter');
          await text(page, 'The weather: snow, -3 °C.');
          await page.locator('.badge', { hasText: 'success' }).waitFor();
        },
      },
      {
        name: 'playground-comparison',
        path: '/playground?assistant=agent&compare=patient',
        ready: async (page) => {
          await page.getByLabel('Message', { exact: true }).fill('What is the weather in Oslo?');
          await page.keyboard.press('Enter');
          await text(page, 'The weather: snow, -3 °C.');
          await expect.poll(() => page.locator('.badge', { hasText: 'success' }).count()).toBe(2);
        },
      },
      {
        name: 'inbox',
        path: `/inbox?sel=${waiting.threadId}`,
        ready: (page) => text(page, 'the summer party'),
      },
      { name: 'threads', path: '/threads', ready: (page) => page.getByRole('row').nth(2).waitFor() },
      { name: 'thread', path: `/threads/${talk.threadId}`, ready: (page) => text(page, 'The sum is 42.') },
      {
        name: 'checkpoints',
        path: `/threads/${talk.threadId}?tab=checkpoints`,
        ready: (page) =>
          page
            .getByRole('region', { name: /^added messages/ })
            .first()
            .waitFor(),
      },
      { name: 'runs', path: '/runs', ready: (page) => page.getByRole('row').nth(4).waitFor() },
      {
        name: 'run',
        path: `/runs/${failed.runId}?thread=${failed.threadId}`,
        ready: (page) => text(page, 'The plan has no first step.'),
      },
      {
        name: 'timeline',
        path: `/runs/${queued.run_id}?thread=${queuedThread}&tab=timeline`,
        ready: async (page) => {
          await client.runs.join(queuedThread, delayed.run_id);
          await client.runs.join(queuedThread, queued.run_id);
          await page.locator('.badge', { hasText: 'success' }).waitFor();
          await page.getByRole('row', { name: /Attempt 1/ }).waitFor();
        },
      },
      {
        name: 'pending',
        path: `/runs/${pending.run_id}?thread=${pending.thread_id}`,
        ready: (page) => text(page, 'It starts by itself.'),
      },
    );
    await client.store.put(['users', 'ada'], 'food', { likes: ['apples', 'tea'], since: 1843 });
    await client.store.put(['users', 'ada', 'notes'], 'first', { text: 'Ada likes mathematics' });
    await client.store.put(['users', 'grace'], 'food', { likes: ['bread'] });
    await client.store.put(['sessions'], 'today', { count: 3 });
    const terse = { graph_id: 'agent', name: 'Terse', config: { configurable: { style: 'terse' } } };
    const assistant = await client.assistants.create(terse);
    await client.assistants.update(assistant.assistant_id, {
      config: { configurable: { style: 'very terse', examples: 2 } },
      description: 'Answers in one sentence',
    });
    const cron = await client.crons.create(null, 'agent', {
      schedule: '0 9 * * 1-5',
      timezone: 'Europe/Berlin',
      input: says('What is the weather in Oslo?'),
      on_run_completed: 'keep',
    });
    await client.crons.create(talk.threadId, 'agent', { schedule: '*/15 * * * *', enabled: false });
    hooks = await listen((request, response) =>
      response.writeHead(request.url === '/tickets' ? 502 : 200).end(),
    );
    for (const path of ['/orders', '/orders', '/tickets'])
      await client.runs.create(talk.threadId, 'agent', { input, webhook: `${hooks.url}${path}` });
    await tracesOf(console.url).eventually(talk.runId);
    shown.push(
      {
        name: 'store',
        path: '/store?prefix=users.ada',
        ready: (page) => page.getByRole('row').nth(2).waitFor(),
      },
      {
        name: 'item',
        path: '/store?prefix=users.ada&ns=users.ada&key=food',
        ready: (page) => text(page, 'apples'),
      },
      { name: 'assistants', path: '/assistants', ready: (page) => page.getByRole('row').nth(3).waitFor() },
      {
        name: 'assistant',
        path: `/assistants/${assistant.assistant_id}`,
        ready: (page) => page.getByRole('region', { name: 'added config.configurable.examples' }).waitFor(),
      },
      { name: 'crons', path: '/crons', ready: (page) => page.getByRole('row').nth(2).waitFor() },
      {
        name: 'cron',
        path: `/crons/${cron.cron_id}`,
        ready: (page) => text(page, 'No run of this cron is stored.'),
      },
      {
        name: 'webhooks',
        path: '/webhooks',
        ready: async (page) => {
          await page.getByRole('cell', { name: 'The answer was 502' }).waitFor();
          await page.getByRole('row').nth(3).waitFor();
          await page.getByRole('button', { name: /tickets for run/ }).click();
          await page.getByRole('table', { name: 'Attempts' }).waitFor();
        },
      },
      {
        name: 'traces-key',
        path: '/traces',
        ready: (page) => page.getByRole('heading', { name: 'Traces need an API key' }).waitFor(),
      },
      {
        name: 'traces',
        path: '/traces',
        ready: async (page) => {
          await enterKey(page);
          await page.getByRole('row').nth(2).waitFor();
        },
      },
      {
        name: 'trace',
        path: `/traces/${talk.runId}`,
        ready: async (page) => {
          await page.getByRole('treeitem').nth(2).waitFor();
          await page.getByRole('link', { name: 'Open the run' }).waitFor();
          await page.getByRole('log', { name: 'Messages of the outputs' }).waitFor();
          await page.getByRole('listitem').filter({ hasText: 'correct' }).waitFor();
        },
      },
    );
    const traces = tracesOf(console.url);
    await traces.eventually(talk.runId);
    await traces.client.traces.addFeedback({ run_id: talk.runId, key: 'correct', score: 1 });
    const [own] = await traces.client.projects.list({ name: 'default' });
    const newer = await traces.send('shop', 40);
    const older = await traces.send('shop', 30, 86_400_000);
    const nowMs = Date.now();
    const calls = Array.from({ length: 110 }, (_, index) => ({
      startMs: nowMs - 30_000 - index * 31_000,
      ms: 900 + ((index * 37) % 29) * (index % 23 === 0 ? 400 : 60),
      promptTokens: 400 + ((index * 53) % 31) * 40,
      ...(index % 19 === 7 ? { error: 'RateLimitError: 429' } : {}),
    }));
    await traces.sendCalls('shop', calls);
    const disk = await folder(traces, 'disk');
    const completed = await startExport(traces, 'shop', disk.id);
    store = await startObjectStore();
    const lake = await bucket(traces, 'lake', store);
    store.refusal = quotaExceeded;
    const retried = await startExport(traces, 'shop', lake.id);
    await traces.client.exports.waitFor(completed.id, { pollMs: 100 });
    await untilRetried(traces, retried.id, 2);
    await traces.client.keys.create({ description: 'dashboards', role: 'viewer' });
    await traces.client.keys.create({
      description: 'the tracer of the shop',
      role: 'ingest',
      expires_at: new Date(Date.now() + 90 * 86_400_000).toISOString(),
    });
    shown.push(
      {
        name: 'trace-comparison',
        path: `/traces/compare?left=${older}&right=${newer}`,
        ready: (page) => page.getByRole('region', { name: 'Differences' }).waitFor(),
      },
      {
        name: 'trace-charts',
        path: '/traces?view=charts',
        ready: async (page) => {
          for (const title of ['Traces', 'Tokens', 'Cost'])
            await page.getByRole('figure', { name: title, exact: true }).locator('canvas').waitFor();
        },
      },
      {
        name: 'trace-threads',
        path: `/traces?view=threads&project=${own?.id}`,
        ready: (page) => page.getByRole('row').nth(3).waitFor(),
      },
      {
        name: 'trace-thread',
        path: `/traces?view=threads&project=${own?.id}&thread=${talk.threadId}`,
        ready: async (page) => {
          await page.getByRole('row').nth(2).waitFor();
          await page.getByRole('link', { name: 'Open the thread' }).waitFor();
        },
      },
      {
        name: 'trace-to-compare',
        path: `/traces/compare?left=${older}`,
        ready: (page) => page.getByRole('row').nth(1).waitFor(),
      },
      {
        name: 'exports',
        path: '/exports',
        ready: (page) => page.getByRole('row').nth(2).waitFor(),
      },
      {
        name: 'export',
        path: `/exports/${completed.id}?tab=files`,
        ready: (page) => page.getByRole('row').nth(2).waitFor(),
      },
      {
        name: 'export-retries',
        path: `/exports/${retried.id}`,
        ready: (page) => text(page, 'are retried after the same error'),
      },
      {
        name: 'new-export',
        path: `/exports/new?from=${completed.id}`,
        ready: async (page) => {
          await page.getByRole('button', { name: 'Dry run' }).click();
          await text(page, 'Nothing has been created.');
        },
      },
      {
        name: 'destination',
        path: `/destinations/${lake.id}`,
        ready: async (page) => {
          await page.getByRole('button', { name: 'Test', exact: true }).click();
          await text(page, 'Exports cannot be written here');
        },
      },
      {
        name: 'destinations',
        path: '/destinations',
        ready: (page) => page.getByRole('row').nth(2).waitFor(),
      },
      {
        name: 'new-destination',
        path: '/destinations/new',
        ready: (page) => page.getByLabel('Bucket').waitFor(),
      },
      {
        name: 'jobs',
        path: '/jobs',
        ready: async (page) => {
          const { job_id: id } = await client.jobs.create({
            kind: 'cancel_runs',
            filter: { metadata: { customer: 'initech' } },
          });
          await client.jobs.start(id);
          await page.getByRole('button', { name: `Cancel runs ${id}` }).click();
          await page.getByText('All rows were processed.').waitFor();
        },
      },
      {
        name: 'bulk',
        path: '/runs?meta=customer:globex',
        ready: async (page) => {
          const metadata = { customer: 'globex' };
          for (let n = 0; n < 4; n++)
            await client.runs.create(null, 'agent', { input, metadata, after_seconds: 3_600 });
          await page.getByRole('row').nth(4).waitFor();
          await page.getByRole('button', { name: 'Cancel all that match…' }).click();
          await page.getByRole('dialog').getByRole('row').nth(4).waitFor();
        },
      },
      { name: 'keys', path: '/keys', ready: (page) => page.getByRole('row').nth(3).waitFor() },
      {
        name: 'settings',
        path: '/settings',
        ready: (page) => page.getByRole('rowheader', { name: 'SVC_PORT' }).waitFor(),
      },
      {
        name: 'workspaces',
        path: '/keys?tab=workspaces',
        ready: (page) => page.getByText('in use').waitFor(),
      },
    );
    if (writesPictures) await mkdir(pictures, { recursive: true });
  });

  const wide = { width: 1360, height: 800 };
  const narrow = { width: 390, height: 800 };

  /** The other rules do not depend on colours. */
  const rulesOf = { light: undefined, dark: ['color-contrast'] };

  /** `name`: of the pictures; none when undefined. */
  const check = async (page: Page, name?: string): Promise<void> => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      if (writesPictures && name !== undefined && colorScheme === 'light')
        await page.screenshot({ path: join(pictures, `${name}-light.png`) });
      const findings = await seriousFindings(page, rulesOf[colorScheme]);
      expect({ name, colorScheme, findings }).toEqual({ name, colorScheme, findings: [] });
    }
  };

  it(
    'can be used by everybody, in light and in dark, and does not scroll sideways on a phone',
    { timeout: scaled(300_000) },
    async () => {
      const page = await console.open('/', { viewport: wide });
      for (const { name, path, ready } of shown) {
        await page.goto(`${console.url}/console${path}`);
        await ready(page);
        await check(page, name);
        await page.setViewportSize(narrow);
        const overflowPx = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        expect({ name, overflowPx }).toEqual({ name, overflowPx: 0 });
        await page.setViewportSize(wide);
      }
      await page.keyboard.press('Control+k');
      await page.getByRole('listbox').getByRole('option').first().waitFor();
      await check(page);
    },
  );
});
