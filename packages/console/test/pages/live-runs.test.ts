// Lists that are read again when the server notifies that runs have changed.
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

  it('show a run that was created elsewhere, and its end', async () => {
    await using gate = closedGate();
    const page = await console.open('/runs?meta=case:live');
    await page.getByRole('heading', { name: 'No run matches the filter' }).waitFor();
    await live(page);
    const { runId, threadId } = await start('patient', gate.word, { case: 'live' });
    await page.getByRole('link', { name: `Run ${runId}` }).waitFor();
    await badges(page, 'running').waitFor();
    const detail = await page.context().newPage();
    await detail.goto(`${console.url}/console/runs/${runId}?thread=${threadId}`);
    await detail.locator('.badge', { hasText: 'running' }).waitFor();
    await gate.open();
    await badges(page, 'success').waitFor();
    await detail.locator('.badge', { hasText: 'success' }).waitFor();
  });

  it('are not followed while the tab is hidden, and are read again when it is visible', async () => {
    const page = await console.open('/runs?meta=case:hidden');
    await live(page);
    const show = (visibility: DocumentVisibilityState) =>
      page.evaluate((state) => {
        Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, visibility);
    const closed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/runs/changes'));
    await show('hidden');
    await closed;
    const { runId } = await start('agent', 'hello', { case: 'hidden' });
    const opened = page.waitForRequest('**/runs/changes');
    await show('visible');
    await opened;
    await page.getByRole('link', { name: `Run ${runId}` }).waitFor();
    await badges(page, 'success').waitFor();
  });

  it('offer new runs instead of moving while somebody reads older ones', async () => {
    const waits = { after_seconds: 3_600 };
    const oldest = await start('agent', 'later', { case: 'many' }, waits);
    for (let count = 1; count < 45; count++) await start('agent', 'later', { case: 'many' }, waits);
    const page = await console.open('/runs?meta=case:many');
    await live(page);
    await expect.poll(() => page.getByRole('row').count()).toBe(46);
    await page.getByRole('row').last().scrollIntoViewIfNeeded();
    const { runId } = await start('agent', 'newest', { case: 'many' }, waits);
    const offer = page.getByRole('button', { name: '1 new run' });
    await offer.waitFor();
    await console.client.runs.cancel(oldest.threadId, oldest.runId);
    await badges(page, 'cancelled').waitFor();
    await expect.poll(() => page.getByRole('link', { name: `Run ${runId}` }).count()).toBe(0);
    await offer.click();
    await page.getByRole('link', { name: `Run ${runId}` }).waitFor();
    await expect.poll(() => offer.count()).toBe(0);
  });

  it('are polled while no notifications come', async () => {
    const page = await console.open('/', { hasClock: true, expected: /Failed to load|ERR_/ });
    await page.route('**/runs/changes', (route) => route.abort());
    await page.goto(`${console.url}/console/runs?meta=case:polled`);
    await shownByAPoll(page, page.getByRole('status').filter({ hasText: 'catching up' }));
    const { runId } = await start('agent', 'hello', { case: 'polled' });
    await shownByAPoll(page, page.getByRole('link', { name: `Run ${runId}` }));
    await shownByAPoll(page, badges(page, 'success'));
  });
});
