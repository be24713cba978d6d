// Lists that follow the feed of run changes.
import { expect, it } from 'vitest';
import { describeInBrowser, shownByAPoll, useConsole, type Page } from '../browser.ts';
import { closedGate, says } from '../conversations.ts';

const live = (page: Page) =>
  page
    .getByRole('status')
    .filter({ hasText: /^live$/ })
    .waitFor();
const badges = (page: Page, status: string) =>
  page.getByRole('region', { name: 'Runs' }).locator('.badge', { hasText: status });

describeInBrowser('the lists of runs', () => {
  const console = useConsole();

  const start = async (
    graph: string,
    text: string,
    metadata: Record<string, string>,
    options: object = {},
  ) => {
    const { thread_id: threadId } = await console.client.threads.create();
    const run = await console.client.runs.create(threadId, graph, {
      input: says(text),
      metadata,
      ...options,
    });
    return { threadId, runId: run.run_id };
  };

  it('show a run that was created elsewhere, and its end without reading the list again', async () => {
    await using gate = closedGate();
    const page = await console.open('/runs?meta=case:live', { expected: /Failed to load|ERR_/ });
    await page.getByRole('heading', { name: 'No run matches the filter' }).waitFor();
    await live(page);
    const { runId, threadId } = await start('patient', gate.word, { case: 'live' });
    await page.getByRole('link', { name: `Run ${runId}` }).waitFor();
    await badges(page, 'running').waitFor();
    const detail = await page.context().newPage();
    await detail.goto(`${console.url}/console/runs/${runId}?thread=${threadId}`);
    await detail.locator('.badge', { hasText: 'running' }).waitFor();
    await page.route('**/runs/search', (route) => route.abort());
    await gate.open();
    await badges(page, 'success').waitFor();
    await detail.locator('.badge', { hasText: 'success' }).waitFor();
  });

  it('are fed by one connection for all tabs, which the next tab opens when the first one is closed', async () => {
    const first = await console.open('/runs?meta=case:tabs');
    await Promise.all([first.waitForRequest('**/runs/feed'), first.reload()]);
    await live(first);
    const second = await first.context().newPage();
    const feeds: string[] = [];
    second.on('request', (request) => {
      if (request.url().endsWith('/runs/feed')) feeds.push(request.url());
    });
    await second.goto(`${console.url}/console/runs?meta=case:tabs`);
    await live(second);
    const { runId } = await start('agent', 'hello', { case: 'tabs' });
    for (const page of [first, second]) await page.getByRole('link', { name: `Run ${runId}` }).waitFor();
    expect(feeds).toEqual([]);
    await first.close();
    await expect.poll(() => feeds.length).toBe(1);
    const later = await start('agent', 'hello again', { case: 'tabs' });
    await second.getByRole('link', { name: `Run ${later.runId}` }).waitFor();
  });

  it('offer new runs instead of moving while somebody reads older ones', async () => {
    const waits = { after_seconds: 3_600 };
    for (let count = 0; count < 45; count++) await start('agent', 'later', { case: 'many' }, waits);
    const page = await console.open('/runs?meta=case:many');
    await live(page);
    await expect.poll(() => page.getByRole('row').count()).toBe(46);
    await page.getByRole('row').last().scrollIntoViewIfNeeded();
    const { runId } = await start('agent', 'newest', { case: 'many' }, waits);
    const offer = page.getByRole('button', { name: '1 new run' });
    await offer.waitFor();
    await expect.poll(() => page.getByRole('link', { name: `Run ${runId}` }).count()).toBe(0);
    await offer.click();
    await page.getByRole('link', { name: `Run ${runId}` }).waitFor();
    await expect.poll(() => offer.count()).toBe(0);
  });

  it('are polled while the feed cannot be had', async () => {
    const page = await console.open('/', { hasClock: true, expected: /Failed to load|ERR_/ });
    await page.route('**/runs/feed', (route) => route.abort());
    await page.goto(`${console.url}/console/runs?meta=case:polled`);
    await shownByAPoll(page, page.getByRole('status').filter({ hasText: 'catching up' }));
    const { runId } = await start('agent', 'hello', { case: 'polled' });
    await shownByAPoll(page, page.getByRole('link', { name: `Run ${runId}` }));
    await shownByAPoll(page, badges(page, 'success'));
  });
});
