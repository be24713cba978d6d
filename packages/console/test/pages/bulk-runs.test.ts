// Cancelling and retrying many runs from the list.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole } from '../browser.ts';
import { closedGate, run, says } from '../conversations.ts';

describeInBrowser('many runs', () => {
  const console = useConsole();

  /** Runs that wait for an hour, each on a thread of its own. */
  const delayed = async (count: number, metadata: Record<string, unknown>): Promise<string[]> => {
    const { client } = console;
    const ids: string[] = [];
    for (let n = 0; n < count; n++) {
      const { thread_id: threadId } = await client.threads.create();
      const options = { input: says('later'), metadata, after_seconds: 3_600 };
      ids.push((await client.runs.create(threadId, 'agent', options)).run_id);
    }
    return ids;
  };
  const statusesOf = async (metadata: Record<string, unknown>): Promise<string[]> =>
    (await console.client.runs.search({ metadata, limit: 100 })).map(({ status }) => status);

  it('that match the filter are cancelled after a preview, and the result stays', async () => {
    const metadata = { case: randomUUID() };
    await using gate = closedGate();
    await delayed(2, metadata);
    await run(console.client, 'agent', says('hello'), metadata);
    const { thread_id: threadId } = await console.client.threads.create();
    await console.client.runs.create(threadId, 'patient', { input: says(`a ${gate.word}`), metadata });
    await expect.poll(() => statusesOf(metadata)).toContain('running');
    const page = await console.open(`/runs?meta=case:${metadata.case}`);
    await page.getByRole('button', { name: 'Cancel all that match…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Cancel runs' });
    await dialog.getByText('3 runs matching the filter.').waitFor();
    const counts = dialog.getByRole('list', { name: 'Runs by status' }).getByRole('listitem');
    await expect
      .poll(() => counts.allInnerTexts())
      .toEqual([expect.stringMatching(/pending\s+2/), expect.stringMatching(/running\s+1/)]);
    await expect.poll(() => dialog.getByRole('row').count()).toBe(4);
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel 3 runs' }).click();
    const panel = page.getByRole('region', { name: 'Cancel runs' });
    await panel.getByText('3 done · 0 failed · 0 left').waitFor();
    await panel.getByText('All runs were processed.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await expect
      .poll(async () => (await statusesOf(metadata)).toSorted())
      .toEqual(['interrupted', 'interrupted', 'interrupted', 'success']);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Threads' }).click();
    await page.getByRole('heading', { name: 'Threads' }).waitFor();
    await page.goBack();
    await panel.getByText('3 done').waitFor();
    await panel.getByRole('button', { name: 'Dismiss' }).click();
    await panel.waitFor({ state: 'detached' });
  });

  it('that have failed are retried with their input, and failures have a reason', async () => {
    const metadata = { case: randomUUID() };
    const kept = await run(console.client, 'patient', says('fail'), metadata);
    const lost = await run(console.client, 'patient', says('fail'), metadata);
    const page = await console.open(`/runs?meta=case:${metadata.case}`, { expected: /404/ });
    await page.getByRole('button', { name: 'Retry all that match…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Retry runs' });
    await dialog.getByText('2 runs matching the filter.').waitFor();
    await console.client.threads.delete(lost.threadId);
    await dialog.getByRole('button', { name: 'Retry 2 runs' }).click();
    const panel = page.getByRole('region', { name: 'Retry runs' });
    await panel.getByText('1 done · 1 failed · 0 left').waitFor();
    await panel.getByRole('link', { name: `Run ${lost.runId}` }).waitFor();
    await expect
      .poll(async () => (await console.client.runs.list(kept.threadId)).map(({ status }) => status))
      .toEqual(['error', 'error']);
    const [again, before] = await console.client.runs.list(kept.threadId);
    expect(again?.kwargs['input']).toEqual(before?.kwargs['input']);
  });

  it('are stopped on the way: the rest is left alone', async () => {
    const metadata = { case: randomUUID() };
    await delayed(7, metadata);
    const page = await console.open(`/runs?meta=case:${metadata.case}`);
    const held: (() => void)[] = [];
    await page.route('**/runs/cancel', async (route) => {
      await new Promise<void>((resolve) => held.push(resolve));
      await route.continue();
    });
    await page.getByRole('button', { name: 'Cancel all that match…' }).click();
    await page.getByRole('button', { name: 'Cancel 7 runs' }).click();
    const panel = page.getByRole('region', { name: 'Cancel runs' });
    await expect.poll(() => held.length).toBe(4);
    await expect
      .poll(() => page.getByRole('button', { name: 'Retry all that match…' }).isDisabled())
      .toBe(true);
    await panel.getByRole('button', { name: 'Stop' }).click();
    for (const open of held) open();
    await panel.getByText('4 done · 0 failed · 3 left').waitFor();
    await panel.getByText('Stopped; 3 runs were left alone.').waitFor();
    const statuses = await statusesOf(metadata);
    expect(statuses.filter((status) => status === 'pending')).toHaveLength(3);
  });

  it('are chosen by checkboxes with the keyboard', async () => {
    const metadata = { case: randomUUID() };
    const [first = '', , last = ''] = await delayed(3, metadata);
    const page = await console.open(`/runs?meta=case:${metadata.case}`);
    await page.getByRole('checkbox', { name: 'Select all runs of the list' }).check();
    await page.getByRole('button', { name: 'Cancel 3 runs selected…' }).waitFor();
    await page.getByRole('checkbox', { name: `Select run ${first}` }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('checkbox', { name: `Select run ${last}` }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Cancel 1 run selected…' }).click();
    await page.getByText('1 run of the selected ones.').waitFor();
    await page.getByRole('button', { name: 'Cancel 1 run', exact: true }).click();
    await page.getByText('1 done · 0 failed · 0 left').waitFor();
    expect(await statusesOf(metadata)).toEqual(['pending', 'interrupted', 'pending']);
    await expect.poll(() => page.getByRole('checkbox', { checked: true }).count()).toBe(0);
  });

  it('of more than a hundred need their number typed', async () => {
    const metadata = { case: randomUUID() };
    const found = (await delayed(1, metadata)).map((run_id) => ({
      run_id,
      thread_id: randomUUID(),
      assistant_id: randomUUID(),
      status: 'pending',
      created_at: '2026-01-01T00:00:00Z',
    }));
    const page = await console.open(`/runs?meta=case:${metadata.case}`);
    await page.getByRole('row').nth(1).waitFor();
    // As many as a page of the API has, and more behind them.
    await page.route('**/runs/search', (route) =>
      route.fulfill({
        json: Array.from({ length: 1_000 }, () => found[0]),
        headers: { 'x-pagination-next': 'more' },
      }),
    );
    await page.getByRole('button', { name: 'Cancel all that match…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('1,000+ runs matching the filter.').waitFor();
    const confirm = dialog.getByRole('button', { name: 'Cancel 1,000+ runs' });
    await expect.poll(() => confirm.isDisabled()).toBe(true);
    await dialog.getByLabel('Type 1000 to confirm').fill('1000');
    await expect.poll(() => confirm.isEnabled()).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });

  it('of the wrong status are refused with the reason; all runs need a warning', async () => {
    const page = await console.open('/runs?status=success');
    await page.getByRole('button', { name: 'Cancel all that match…' }).click();
    await page.getByText('No run that matches is pending or running.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Cancel 0 runs' }).isDisabled()).toBe(true);
    await delayed(1, { case: 'unfiltered' });
    await page.goto(`${console.url}/console/runs`);
    await page.getByRole('button', { name: 'Cancel all runs…' }).click();
    await page.getByText('There is no filter: these are the runs of all threads').waitFor();
  });

  it('of a filter with a problem are neither searched nor cancelled', async () => {
    const [runId = ''] = await delayed(1, { case: 'problem' });
    const page = await console.open('/runs');
    await page.getByRole('link', { name: `Run ${runId}` }).waitFor();
    const cancels = page.getByRole('button', { name: /^Cancel all/ });
    await page.getByRole('checkbox', { name: `Select run ${runId}` }).check();
    const field = page.getByRole('textbox', { name: 'Metadata' });
    await field.pressSequentially('blue');
    await expect
      .poll(() => page.getByRole('button', { name: /^Cancel 1 run selected/ }).isDisabled())
      .toBe(true);
    await field.press('Enter');
    await page.getByRole('search').getByRole('alert').filter({ hasText: 'blue is not key:value.' }).waitFor();
    await page.getByRole('heading', { name: 'The filter is not valid' }).waitFor();
    expect([await cancels.isDisabled(), await field.getAttribute('aria-invalid')]).toEqual([true, 'true']);
    expect(await seriousFindings(page)).toEqual([]);
    await field.fill('case:problem');
    await field.press('Enter');
    await expect
      .poll(() => page.getByRole('button', { name: /^Cancel 1 run selected/ }).isEnabled())
      .toBe(true);
    for (const address of ['thread=blue', 'status=eror', 'since=3h', 'metadata=case:problem']) {
      await page.goto(`${console.url}/console/runs?${address}`);
      await page.getByRole('heading', { name: 'The filter is not valid' }).waitFor();
      expect(await cancels.isDisabled()).toBe(true);
    }
    await page.getByRole('link', { name: 'Clear the filter' }).click();
    await expect.poll(() => cancels.isEnabled()).toBe(true);
  });

  it('that the caller may not read are not previewed', async () => {
    const { runId } = await run(console.client, 'agent', says('hello'), { case: 'forbidden' });
    const page = await console.open('/runs?meta=case:forbidden', { expected: /403/ });
    await page.getByRole('link', { name: `Run ${runId}` }).waitFor();
    const message = 'The handler refuses threads:read.';
    await page.route('**/runs/search', (route) =>
      route.fulfill({ status: 403, json: { code: 'forbidden', message, detail: message } }),
    );
    await page.getByRole('button', { name: 'Cancel all that match…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Not permitted' }).waitFor();
    await expect
      .poll(() => dialog.getByRole('button', { name: 'Cancel', exact: true }).isDisabled())
      .toBe(true);
  });
});
