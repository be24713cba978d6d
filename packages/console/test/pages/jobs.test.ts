// Jobs: actions on many runs or threads from their lists, and the page of jobs.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole } from '../browser.ts';
import { closedGate, run, says } from '../conversations.ts';

describeInBrowser('jobs', () => {
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

  /** Stateless runs that wait for an hour. */
  const manyDelayed = async (count: number, metadata: Record<string, unknown>): Promise<void> => {
    const one = { assistant_id: 'agent', input: says('later'), metadata, after_seconds: 3_600 };
    for (let left = count; left > 0; left -= 100)
      await console.client.runs.createBatch(Array.from({ length: Math.min(100, left) }, () => one));
  };

  it('cancel the runs of a filter after a preview', async () => {
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
    await expect.poll(() => dialog.getByRole('row').count()).toBe(4);
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Cancel 3 runs' }).click();
    const panel = page.getByRole('region', { name: 'Cancel runs' });
    await panel.getByText('3 done · 0 failed · 0 skipped · 0 left').waitFor();
    await panel.getByText('All rows were processed.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await expect
      .poll(async () => (await statusesOf(metadata)).toSorted())
      .toEqual(['interrupted', 'interrupted', 'interrupted', 'success']);
    await panel.getByRole('button', { name: 'Dismiss' }).click();
    await panel.waitFor({ state: 'detached' });
  });

  it('continue after their page was closed, and are found on another one', async () => {
    const metadata = { case: randomUUID() };
    await manyDelayed(600, metadata);
    const page = await console.open(`/runs?meta=case:${metadata.case}`);
    await page.getByRole('button', { name: 'Cancel all that match…' }).click();
    await page.getByLabel('Type 600 to confirm').fill('600');
    const started = page.waitForResponse('**/jobs/*/start');
    await page.getByRole('button', { name: 'Cancel 600 runs' }).click();
    const { job_id: id } = (await (await started).json()) as { job_id: string };
    await page.close();
    const other = await console.open('/runs');
    await other.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await other.keyboard.press('Control+k');
    await other.keyboard.type('Jobs');
    await other.keyboard.press('Enter');
    const row = other
      .getByRole('row')
      .filter({ has: other.getByRole('button', { name: `Cancel runs ${id}` }) });
    await row.getByText('completed').waitFor();
    await row.getByRole('button').focus();
    await other.keyboard.press('Enter');
    await other.getByText('600 done · 0 failed · 0 skipped · 0 left').waitFor();
    expect(await seriousFindings(other)).toEqual([]);
    expect(await console.client.runs.search({ metadata, status: 'pending', limit: 1 })).toEqual([]);
  });

  it('that are in progress are shown again after the page is loaded, and can be cancelled', async () => {
    const metadata = { case: randomUUID() };
    await delayed(3, metadata);
    const { rows: _, ...job } = await console.client.jobs.create({
      kind: 'cancel_runs',
      filter: { metadata },
    });
    const page = await console.open('/home');
    await page.route('**/jobs?*', (route) =>
      route.fulfill({ json: [{ ...job, state: 'running', done: 1 }] }),
    );
    await page.goto(`${console.url}/console/runs?meta=case:${metadata.case}`);
    const panel = page.getByRole('region', { name: 'Cancel runs' });
    await panel.getByText('1 done · 0 failed · 0 skipped · 2 left').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel all that match…' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Retry all that match…' }).isEnabled()).toBe(true);
    await page.unroute('**/jobs?*');
    await panel.getByRole('button', { name: 'Cancel the job' }).click();
    await panel.waitFor({ state: 'detached' });
    expect(await statusesOf(metadata)).toEqual(['pending', 'pending', 'pending']);
  });

  it('retry failed runs with their input, and name the rows that were skipped with the reason', async () => {
    const metadata = { case: randomUUID() };
    const kept = await run(console.client, 'patient', says('fail'), metadata);
    const lost = await run(console.client, 'patient', says('fail'), metadata);
    const page = await console.open(`/runs?meta=case:${metadata.case}`);
    await page.getByRole('button', { name: 'Retry all that match…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Retry runs' });
    await dialog.getByText('2 runs matching the filter.').waitFor();
    await console.client.threads.delete(lost.threadId);
    await dialog.getByRole('button', { name: 'Retry 2 runs' }).click();
    const panel = page.getByRole('region', { name: 'Retry runs' });
    await panel.getByText('1 done · 0 failed · 1 skipped · 0 left').waitFor();
    const row = panel.getByRole('row').filter({ has: page.getByRole('link', { name: `Run ${lost.runId}` }) });
    await row.getByText('The run was not found').waitFor();
    await expect
      .poll(async () => (await console.client.runs.list(kept.threadId)).map(({ status }) => status))
      .toEqual(['error', 'error']);
    const [again, before] = await console.client.runs.list(kept.threadId);
    expect(again?.kwargs['input']).toEqual(before?.kwargs['input']);
  });

  it('delete the threads of a filter', async () => {
    const metadata = { case: randomUUID() };
    for (let n = 0; n < 3; n++) await console.client.threads.create({ metadata });
    const page = await console.open(`/threads?meta=case:${metadata.case}`);
    await page.getByRole('button', { name: 'Delete all that match…' }).click();
    await page.getByRole('button', { name: 'Delete 3 threads' }).click();
    const panel = page.getByRole('region', { name: 'Delete threads' });
    await panel.getByText('3 done').waitFor();
    await page.getByText('No thread matches the filter').waitFor();
    expect(await console.client.threads.count({ metadata })).toBe(0);
  });

  it('act on rows that are chosen by checkboxes with the keyboard', async () => {
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
    await page.getByText('1 done · 0 failed · 0 skipped · 0 left').waitFor();
    expect(await statusesOf(metadata)).toEqual(['pending', 'interrupted', 'pending']);
    await expect.poll(() => page.getByRole('checkbox', { checked: true }).count()).toBe(0);
  });

  it('of more than a hundred rows need their number typed', async () => {
    const metadata = { case: randomUUID() };
    await manyDelayed(101, metadata);
    const page = await console.open(`/runs?meta=case:${metadata.case}`);
    await page.getByRole('button', { name: 'Cancel all that match…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('101 runs matching the filter.').waitFor();
    const confirm = dialog.getByRole('button', { name: 'Cancel 101 runs' });
    await expect.poll(() => confirm.isDisabled()).toBe(true);
    await dialog.getByLabel('Type 101 to confirm').fill('101');
    await expect.poll(() => confirm.isEnabled()).toBe(true);
    const cancelled = page.waitForResponse('**/jobs/*/cancel');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect((await cancelled).status()).toBe(200);
  });

  it('without rows cannot be started; those on all runs have a warning', async () => {
    const page = await console.open('/runs?status=success');
    await page.getByRole('button', { name: 'Cancel all that match…' }).click();
    await page.getByText('No run that matches is pending or running.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Cancel 0 runs' }).isDisabled()).toBe(true);
    await delayed(1, { case: 'unfiltered' });
    await page.goto(`${console.url}/console/runs`);
    await page.getByRole('button', { name: 'Cancel all runs…' }).click();
    await page.getByText('There is no filter: these are all runs that you may read.').waitFor();
  });

  it('of a filter with a problem cannot be started', async () => {
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

  it('on runs that the caller may not read have no preview', async () => {
    const { runId } = await run(console.client, 'agent', says('hello'), { case: 'forbidden' });
    const page = await console.open('/runs?meta=case:forbidden', { expected: /403/ });
    await page.getByRole('link', { name: `Run ${runId}` }).waitFor();
    const message = 'The handler refuses threads:read.';
    await page.route('**/jobs', (route) =>
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
