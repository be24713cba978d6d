import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { describeInBrowser, shownByAPoll, useConsole } from '../browser.ts';
import { says } from '../conversations.ts';
import { listen } from '../receiver.ts';

describeInBrowser('the deliveries to webhooks', () => {
  const console = useConsole();

  const run = async (webhook: string) => {
    const { thread_id: threadId } = await console.client.threads.create();
    const { run_id: runId } = await console.client.runs.create(threadId, 'agent', {
      input: says('hello'),
      webhook,
    });
    return { threadId, runId };
  };

  it('are listed across runs by state, with the last error and when the next attempt is due', async () => {
    await using healthy = await listen((_, response) => response.end());
    await using broken = await listen((_, response) => response.writeHead(503).end());
    const delivered = await run(`${healthy.url}/hook?secret=1`);
    const waiting = await run(`${broken.url}/hook`);
    const page = await console.open('/webhooks');
    const row = (url: string) => page.getByRole('row').filter({ hasText: `${url}/hook` });
    await row(healthy.url).getByText('delivered').waitFor();
    await row(broken.url).getByRole('cell', { name: 'The answer was 503' }).waitFor();
    await row(broken.url).getByText('retrying').waitFor();
    await row(broken.url)
      .getByRole('cell', { name: /^in \d+ s/ })
      .waitFor();
    await expect.poll(() => page.getByText('secret').count()).toBe(0);
    await page.getByRole('button', { name: 'waiting' }).click();
    await row(healthy.url).waitFor({ state: 'detached' });
    await page.reload();
    await row(broken.url).waitFor();
    await expect.poll(() => row(healthy.url).count()).toBe(0);
    await row(broken.url)
      .getByRole('link', { name: `Thread ${waiting.threadId}` })
      .waitFor();
    await row(broken.url)
      .getByRole('link', { name: `Run ${waiting.runId}` })
      .click();
    await page.getByRole('region', { name: `Delivery to ${broken.url}/hook` }).waitFor();
    await page.goto(
      `${console.url}/console/runs/${delivered.runId}?thread=${delivered.threadId}&tab=webhooks`,
    );
    await page.getByText('delivered').waitFor();
  });

  it('open their attempts with the keyboard, in the address', async () => {
    await using broken = await listen((_, response) => response.writeHead(418).end());
    await run(`${broken.url}/hook`);
    const page = await console.open('/webhooks');
    const button = page.getByRole('button', { name: `Attempts to call ${broken.url}/hook` });
    await page.getByRole('cell', { name: 'The answer was 418' }).first().waitFor();
    await button.focus();
    await page.keyboard.press('Enter');
    const attempts = page.getByRole('table', { name: 'Attempts' });
    await attempts.getByRole('cell', { name: '418', exact: true }).first().waitFor();
    await page.reload();
    await attempts.waitFor();
    await page.keyboard.press('j');
    await button.focus();
    await page.keyboard.press('Enter');
    await attempts.waitFor({ state: 'detached' });
  });

  it('are sent again when they have failed', async () => {
    let status = 418;
    await using receiver = await listen((_, response) => response.writeHead(status).end());
    await run(`${receiver.url}/again`);
    const page = await console.open('/webhooks', { hasClock: true });
    const row = page.getByRole('row').filter({ hasText: `${receiver.url}/again` });
    await shownByAPoll(page, row.getByText('failed'));
    status = 200;
    await row.getByRole('button').click();
    await page.getByRole('button', { name: 'Send again' }).click();
    await row.getByText('delivered').waitFor();
    await page.getByRole('button', { name: 'Send again' }).waitFor({ state: 'detached' });
    await page.getByRole('status').filter({ hasText: 'Sent again: the receiver answered 200.' }).waitFor();
    const attempts = page.getByRole('table', { name: 'Attempts' });
    await attempts.getByRole('cell', { name: '200', exact: true }).waitFor();
    // The newest is first.
    await expect
      .poll(() => attempts.locator('tbody td:nth-child(2)').allInnerTexts())
      .toEqual(['200', '418']);
  });

  it('that leave a filtered list when they are sent again say so', async () => {
    let status = 500;
    await using receiver = await listen((_, response) => response.writeHead(status).end());
    await run(`${receiver.url}/leaves`);
    const page = await console.open('/webhooks?status=pending', { hasClock: true });
    // Only the attempt that the page asks for has success.
    await page.route('**/webhooks/*/retry', (route) => {
      status = 200;
      return route.continue();
    });
    const row = page.getByRole('row').filter({ hasText: `${receiver.url}/leaves` });
    await shownByAPoll(page, row.getByRole('cell', { name: 'The answer was 500' }));
    await row.getByRole('button').click();
    await page.getByRole('button', { name: 'Send now' }).click();
    const hasLeft = page.getByRole('status').filter({ hasText: 'is no longer in this list' });
    // Without waiting for the next poll of the list.
    await hasLeft.filter({ hasText: 'Sent again: the receiver answered 200.' }).waitFor();
    await hasLeft.getByRole('link', { name: 'Open it' }).click();
    await page.locator('.badge', { hasText: 'delivered' }).waitFor();
  });

  it('that fail again when they are sent again say so', async () => {
    await using receiver = await listen((_, response) => response.writeHead(418).end());
    await run(`${receiver.url}/fails-again`);
    const page = await console.open('/webhooks?status=failed', { hasClock: true });
    const row = page.getByRole('row').filter({ hasText: `${receiver.url}/fails-again` });
    await shownByAPoll(page, row);
    await row.getByRole('button').click();
    await page.getByRole('button', { name: 'Send again' }).click();
    const outcome = 'Sent again: the receiver answered 418. No other attempt follows.';
    await page
      .getByRole('region', { name: `Delivery to ${receiver.url}/fails-again` })
      .getByRole('status')
      .filter({ hasText: outcome })
      .waitFor();
    // The count of the API has restarted.
    await row.getByRole('cell', { name: '2', exact: true }).waitFor();
    const answers = page
      .getByRole('table', { name: 'Attempts' })
      .getByRole('cell', { name: '418', exact: true });
    await expect.poll(() => answers.count()).toBe(2);
  });

  it('appear while they are watched', async () => {
    await using receiver = await listen((_, response) => response.end());
    const page = await console.open('/webhooks?status=delivered', { hasClock: true });
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    await run(`${receiver.url}/watched`);
    await shownByAPoll(page, page.getByRole('row').filter({ hasText: `${receiver.url}/watched` }));
  });

  it('are loaded page by page', async () => {
    const page = await console.open('/');
    const deliveryAt = (n: number) => ({
      delivery_id: randomUUID(),
      run_id: randomUUID(),
      thread_id: randomUUID(),
      url: `https://hooks.example/${n}`,
      status: 'failed',
      error: 'The answer was 500',
      attempt: 12,
      attempts: [],
      next_attempt_at: null,
      created_at: '2026-01-01T00:00:00Z',
      ended_at: '2026-01-01T00:00:00Z',
    });
    await page.route('**/runs/webhooks/search', (route) => {
      const isFirst = !(route.request().postData() ?? '').includes('"cursor"');
      return route.fulfill({
        json: Array.from({ length: isFirst ? 50 : 3 }, (_, n) => deliveryAt(n)),
        headers: isFirst ? { 'x-pagination-next': 'more' } : {},
      });
    });
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(51);
    await page.getByRole('button', { name: 'Load older deliveries' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(54);
    await expect.poll(() => page.getByRole('button', { name: 'Load older deliveries' }).count()).toBe(0);
  });

  it.each([
    ['none with a status', { json: [] }, '?status=failed', 'No delivery has this status'],
    ['none at all', { json: [] }, '', 'There are no deliveries'],
    [
      'none of the newest that the caller may read',
      { json: [], headers: { 'x-pagination-next': 'more', 'x-pagination-limited-by': 'rows' } },
      '',
      'None of the newest deliveries is yours',
    ],
    [
      'a caller who may not read them',
      { status: 403, json: { code: 'forbidden', message: 'The handler refuses threads:read.' } },
      '',
      'Not permitted',
    ],
    [
      'an error of the server',
      { status: 500, json: { code: 'internal', message: 'Internal error' } },
      '',
      'The server reports an error',
    ],
  ])('have a state for %s', async (_, response, query, heading) => {
    const page = await console.open('/', { expected: /403|500/ });
    await page.route('**/runs/webhooks/search', (route) => route.fulfill(response));
    await page.evaluate(
      (path) => (history.pushState(null, '', path), dispatchEvent(new PopStateEvent('popstate'))),
      `/console/webhooks${query}`,
    );
    await page.getByRole('heading', { name: heading }).waitFor();
  });
});
