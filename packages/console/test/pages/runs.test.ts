import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole } from '../browser.ts';
import { closedGate, run, says } from '../conversations.ts';
import { listen } from '../receiver.ts';

describeInBrowser('the runs', () => {
  const console = useConsole();

  it('are found by the filter in the address', async () => {
    const failed = await run(console.client, 'patient', says('fail'), { case: 'runs' });
    await run(console.client, 'agent', says('hello'), { case: 'runs' });
    const page = await console.open('/runs?meta=case:runs');
    const rows = page.getByRole('row');
    await page.getByRole('cell', { name: 'TypeError: The plan has no first step.' }).waitFor();
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByRole('button', { name: 'error' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await page.reload();
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('link', { name: `Run ${failed.runId}` }).click();
    await page.getByText('The plan has no first step.').waitFor();
    await page.getByRole('heading', { name: 'Run', exact: true }).waitFor();
    await page
      .getByRole('region', { name: 'Stack of the error' })
      .getByText(/patient\.ts:\d+/)
      .waitFor();
  });

  it('that failed show the failed step with its input, and run again from there', async () => {
    const failed = await run(console.client, 'patient', says('fail here'));
    const page = await console.open(`/runs/${failed.runId}?thread=${failed.threadId}`);
    await page.getByText('The plan has no first step.').waitFor();
    const stack = page.getByRole('region', { name: 'Stack of the error' });
    await stack.getByText(/patient\.ts:\d+/).waitFor();
    const libraries = stack.getByText(/frames? of libraries/).first();
    await libraries.focus();
    await expect.poll(() => stack.getByText(/node_modules/).count()).toBeGreaterThan(0);
    await expect
      .poll(() =>
        stack
          .getByText(/node_modules/)
          .first()
          .isVisible(),
      )
      .toBe(false);
    await page.keyboard.press('Enter');
    await stack
      .getByText(/node_modules/)
      .first()
      .waitFor();
    const step = page.getByRole('region', { name: 'Input of the failed step' });
    await step.getByRole('heading', { name: 'State that prepare has read' }).waitFor();
    await step.getByText('messages').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await step.getByRole('button', { name: 'Retry from here' }).click();
    await page.waitForURL((url) => !url.pathname.includes(failed.runId));
    await page.locator('.badge', { hasText: 'error' }).waitFor();
    const [retried] = await console.client.runs.list(failed.threadId, { limit: 1 });
    expect(retried).toMatchObject({ status: 'error', kwargs: { input: null } });
    await step.getByRole('link', { name: 'Fork…' }).click();
    await page.getByText('prepare failed').first().waitFor();
    await page.getByRole('button', { name: 'Edit and run…' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('appear while they are watched', async () => {
    const page = await console.open('/runs?meta=case:watched');
    await page.getByRole('heading', { name: 'No run matches the filter' }).waitFor();
    await run(console.client, 'agent', says('hello'), { case: 'watched' });
    await page.getByRole('row').nth(1).waitFor();
  });

  it('are opened by a click anywhere in their row, with Ctrl or the middle button in a new tab', async () => {
    const { runId } = await run(console.client, 'agent', says('hello'), { case: 'row' });
    const page = await console.open('/runs?meta=case:row');
    const cell = page.getByRole('row').nth(1).getByRole('cell').nth(1);
    let tabs = 0;
    page.context().on('page', () => (tabs += 1));
    await cell.click({ button: 'right', modifiers: ['Control'] });
    for (const click of [
      () => cell.click({ button: 'middle' }),
      () => cell.click({ modifiers: ['Control'] }),
    ]) {
      const opened = page.context().waitForEvent('page');
      await click();
      const tab = await opened;
      await tab.waitForURL(`**/runs/${runId}?**`);
      await tab.close();
    }
    expect(tabs).toBe(2);
    expect(new URL(page.url()).pathname).toBe('/console/runs');
    await cell.click();
    await page.waitForURL(`**/runs/${runId}?**`);
  });

  it('are walked by the keyboard', async () => {
    const { runId } = await run(console.client, 'agent', says('hello'), { case: 'keys' });
    const page = await console.open('/runs?meta=case:keys');
    await page.getByRole('row').nth(1).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/runs/${runId}?**`);
    await page.getByRole('tab', { name: 'Overview' }).focus();
    await page.keyboard.press('ArrowRight');
    await expect
      .poll(() => page.getByRole('tab', { name: 'Timeline' }).getAttribute('aria-selected'))
      .toBe('true');
  });
});

describeInBrowser('a run', () => {
  const console = useConsole();

  it('says why it is pending, and is cancelled after a question', async () => {
    await using gate = closedGate();
    const { thread_id: threadId } = await console.client.threads.create();
    const first = await console.client.runs.create(threadId, 'patient', { input: says(`a ${gate.word}`) });
    const second = await console.client.runs.create(threadId, 'patient', { input: says('b') });
    const page = await console.open(`/runs/${second.run_id}?thread=${threadId}`);
    const reason = page.getByRole('region', { name: 'Why the run is pending' });
    await reason.getByText('Runs of a thread are executed one after the other.').waitFor();
    await reason.getByRole('link', { name: 'Open the run in front' }).click();
    await page.waitForURL(`**/runs/${first.run_id}?**`);
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    const badge = page.locator('.badge', { hasText: 'cancelled' });
    await badge.waitFor();
    await expect.poll(() => badge.getAttribute('title')).toBe('status interrupted');
    const cancelled = page.getByRole('term').filter({ hasText: /^Cancelled$/ });
    const cancelledAt = cancelled.locator('xpath=following-sibling::dd[1]//time').first();
    await expect.poll(() => cancelledAt.getAttribute('title')).toMatch(/T.*Z$/);
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.getByRole('row', { name: 'Attempt 1 cancelled' }).waitFor();
    await page.getByRole('row', { name: 'repeat stopped here' }).waitFor();
    await page.goto(`${console.url}/console/runs?thread=${threadId}`);
    await page.getByRole('button', { name: 'cancelled' }).click();
    await page.waitForURL('**/runs?**status=interrupted**');
    await page.getByRole('link', { name: `Run ${first.run_id}` }).waitFor();
    await expect.poll(() => page.locator('tbody .badge').allInnerTexts()).toEqual(['cancelled']);
    expect((await console.client.runs.get(threadId, first.run_id)).status).toBe('interrupted');
  });

  it('has a timeline with the share of each node, and whole names on a narrow screen', async () => {
    const { threadId, runId } = await run(console.client, 'patient', says('a b c'));
    const page = await console.open(`/runs/${runId}?thread=${threadId}&tab=timeline`);
    const repeat = page.getByRole('row', { name: /^repeat/ });
    await repeat.getByText(/^\d+ %$/).waitFor();
    await page.setViewportSize({ width: 390, height: 800 });
    const isCut = (cell: HTMLElement | SVGElement) => cell.scrollWidth > cell.clientWidth;
    await page.getByRole('columnheader', { name: 'After' }).waitFor({ state: 'hidden' });
    for (const cell of await page.locator('.run-timeline :is(th, td):not(.run-timeline-time)').all())
      expect(await cell.evaluate(isCut)).toBe(false);
    await repeat.getByText(/^\d+ %$/).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  });

  it('names the node that executes now, and the runs that wait behind it', async () => {
    await using gate = closedGate();
    const { thread_id: threadId } = await console.client.threads.create();
    const create = (text: string) => console.client.runs.create(threadId, 'patient', { input: says(text) });
    const first = await create(`a ${gate.word}`);
    const second = await create('b');
    const third = await create('c');
    const page = await console.open(`/runs/${second.run_id}?thread=${threadId}`);
    await page.getByRole('link', { name: '1 run waits behind it' }).waitFor();
    await expect.poll(() => page.getByRole('term').filter({ hasText: 'Executes now' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Open the run in front' }).click();
    await page.waitForURL(`**/runs/${first.run_id}?**`);
    const executes = page.getByRole('term').filter({ hasText: 'Executes now' });
    await executes
      .locator('xpath=following-sibling::dd[1]')
      .getByText(/^repeat for \d+/)
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: '2 runs wait behind it' }).click();
    await page.waitForURL('**/runs?**status=pending**');
    await page.getByRole('link', { name: `Run ${third.run_id}` }).waitFor();
    await expect.poll(() => page.locator('tbody').getByRole('row').count()).toBe(2);
    await gate.open();
    await console.client.runs.join(threadId, third.run_id);
  });

  it('has a timeline of what it waited for and what it executed', async () => {
    await using gate = closedGate();
    const { thread_id: threadId } = await console.client.threads.create();
    const first = await console.client.runs.create(threadId, 'patient', { input: says(`a ${gate.word}`) });
    const second = await console.client.runs.create(threadId, 'agent', { input: says('Add 1 and 2') });
    const page = await console.open(`/runs/${first.run_id}?thread=${threadId}&tab=timeline`);
    const table = page.getByRole('table', { name: 'Timeline' });
    await table.getByRole('row', { name: /executes now/ }).waitFor();
    await gate.open();
    await page.locator('.badge', { hasText: 'success' }).waitFor();
    await table.getByRole('row', { name: /executes now/ }).waitFor({ state: 'detached' });
    await console.client.runs.join(threadId, second.run_id);
    await page.goto(new URL(`../runs/${second.run_id}?thread=${threadId}&tab=timeline`, page.url()).href);
    const waited = table.getByRole('row', { name: /Waited for a run of the thread/ });
    await waited.getByRole('link', { name: first.run_id.slice(0, 8) }).waitFor();
    await table.getByRole('row', { name: /tools step/ }).waitFor();
    await page.getByRole('link', { name: first.run_id.slice(0, 8) }).click();
    await page.waitForURL(`**/runs/${first.run_id}?**tab=timeline**`);
  });

  it('is started again with the same input', async () => {
    const { threadId, runId } = await run(console.client, 'agent', says('Add 1 and 2'));
    const page = await console.open(`/runs/${runId}?thread=${threadId}`);
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.waitForURL((url) => url.pathname.includes('/runs/') && !url.pathname.endsWith(runId));
    await page.locator('.badge', { hasText: 'success' }).waitFor();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('cell', { name: 'metadata' }).waitFor();
    expect(await console.client.runs.list(threadId)).toHaveLength(2);
  });

  it('shows the attempts to call its webhook', async () => {
    await using receiver = await listen((_, response) => response.writeHead(500).end());
    const { thread_id: threadId } = await console.client.threads.create();
    const options = { input: says('hello'), webhook: `${receiver.url}/hook?secret=1` };
    const { run_id: runId } = await console.client.runs.create(threadId, 'agent', options);
    const page = await console.open(`/runs/${runId}?thread=${threadId}&tab=webhooks`);
    const delivery = page.getByRole('region', { name: `Delivery to ${receiver.url}/hook` });
    await delivery.getByRole('cell', { name: '500', exact: true }).first().waitFor();
    await delivery.getByText('Next attempt').waitFor();
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByRole('tab', { name: 'Webhooks' }).click();
    await delivery.waitFor();
  });

  it('whose address lacks the thread says so', async () => {
    const page = await console.open('/runs/00000000-0000-4000-8000-000000000000');
    await page.getByRole('heading', { name: 'The address lacks the thread of the run' }).waitFor();
  });
});
