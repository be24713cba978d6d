// The time to live of a thread, and the pruning of its checkpoints.
import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole, type Page } from '../browser.ts';
import { closedGate, run, says } from '../conversations.ts';

describeInBrowser('the time to live of a thread', () => {
  const console = useConsole();
  const ttlOf = async (threadId: string) => (await console.client.threads.get(threadId)).ttl;

  const openDialog = async (page: Page) => {
    await page.getByRole('button', { name: 'Time to live…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Time to live' });
    const save = async (): Promise<void> => {
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    return { dialog, save, strategy: dialog.getByLabel('When the time is over') };
  };

  it('is set, changed and removed', async () => {
    const { threadId } = await run(console.client, 'agent', says('hello'));
    const page = await console.open(`/threads/${threadId}?tab=details`);
    await page
      .getByRole('definition')
      .filter({ hasText: /^never$/ })
      .waitFor();

    const set = await openDialog(page);
    await set.strategy.selectOption('The thread is deleted');
    await set.dialog.getByLabel('Time', { exact: true }).fill('2');
    await set.dialog.getByLabel('Unit').selectOption('hours');
    await set.save();
    await page.getByText(/^expires in 1 h 59 min$/).waitFor();
    await page.getByText('The thread is deleted then, with its runs and checkpoints.').waitFor();
    expect(await ttlOf(threadId)).toMatchObject({ strategy: 'delete', ttl_minutes: 120 });

    const change = await openDialog(page);
    await expect.poll(() => change.dialog.getByLabel('Time', { exact: true }).inputValue()).toBe('2');
    await change.strategy.selectOption('Earlier checkpoints are deleted');
    expect(await seriousFindings(page)).toEqual([]);
    await change.dialog.getByLabel('Time', { exact: true }).press('Enter');
    await page.getByText(/^earlier checkpoints expire in 1 h 59 min$/).waitFor();
    expect(await ttlOf(threadId)).toMatchObject({ strategy: 'keep_latest', ttl_minutes: 120 });

    const remove = await openDialog(page);
    await remove.strategy.selectOption('Nothing: the thread never expires');
    await remove.save();
    await page
      .getByRole('definition')
      .filter({ hasText: /^never$/ })
      .waitFor();
    expect(await ttlOf(threadId)).toBeUndefined();
  });

  it('is refused at its field', async () => {
    const { thread_id: threadId } = await console.client.threads.create({ ttl: 1_440 });
    const page = await console.open(`/threads/${threadId}`, { expected: /422/ });
    const { dialog } = await openDialog(page);
    const time = dialog.getByRole('textbox', {
      name: 'Time',
      description: 'The time must be a number above 0.',
    });
    await dialog.getByLabel('Time', { exact: true }).fill('0');
    await time.waitFor();
    await expect.poll(() => dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Time', { exact: true }).fill('40000');
    await dialog.getByText('The time must be at most 36,500 days, a hundred years.').waitFor();
    // A server with a lower bound than the console knows.
    await page.route(`**/threads/${threadId}`, (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({
            status: 422,
            json: { detail: [{ loc: ['body', 'ttl', 'ttl'], msg: 'must be at most 60', type: 'too_big' }] },
          })
        : route.continue(),
    );
    await dialog.getByLabel('Time', { exact: true }).fill('1');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('textbox', { name: 'Time', description: 'must be at most 60' }).waitFor();
    expect(await ttlOf(threadId)).toMatchObject({ ttl_minutes: 1_440 });
  });
});

describeInBrowser('pruning a thread', () => {
  const console = useConsole();
  const { client } = console;
  const historyOf = async (threadId: string) => (await client.threads.getHistory(threadId)).length;
  const openDialog = async (page: Page) => {
    await page.getByRole('button', { name: 'Prune…' }).click();
    return page.getByRole('dialog', { name: 'Prune this thread?' });
  };

  it('keeps the current state, and says what it has deleted', async () => {
    const { threadId } = await run(client, 'agent', says('Add 2 and 40'));
    const { thread_id: copy } = await client.threads.copy(threadId);
    const count = await historyOf(threadId);
    const page = await console.open(`/threads/${threadId}`);
    const dialog = await openDialog(page);
    await dialog.getByText(`it has ${count} checkpoints now`).waitFor();
    await dialog.getByText('all copies of the thread stay').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete earlier checkpoints' }).click();
    await page.getByText(`Pruned: the current state is kept, with 1 of ${count} checkpoints.`).waitFor();
    await page.getByText('The sum is 42.').waitFor();
    expect([await historyOf(threadId), await historyOf(copy)]).toEqual([1, count]);
    await (await openDialog(page)).getByRole('button', { name: 'Delete earlier checkpoints' }).click();
    await page.getByText('The thread has no earlier checkpoints: nothing was deleted.').waitFor();
  });

  it('says that a thread in use is not pruned, and deletes it by the other strategy', async () => {
    await using gate = closedGate();
    const { thread_id: threadId } = await client.threads.create();
    await client.runs.create(threadId, 'patient', { input: says(gate.word) });
    await expect.poll(() => historyOf(threadId)).toBeGreaterThan(1);
    const page = await console.open(`/threads/${threadId}`, { expected: /404/ });
    const dialog = await openDialog(page);
    await dialog.getByRole('button', { name: 'Delete earlier checkpoints' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'Nothing was pruned' }).waitFor();
    expect(await historyOf(threadId)).toBeGreaterThan(1);
    await dialog.getByLabel('Strategy').selectOption('delete: delete the thread');
    await dialog.getByText('Its pending and running runs are cancelled.').waitFor();
    await dialog.getByRole('button', { name: 'Delete the thread' }).click();
    await page.waitForURL(/\/threads$/);
    await expect(client.threads.get(threadId)).rejects.toThrow('404');
  });
});
