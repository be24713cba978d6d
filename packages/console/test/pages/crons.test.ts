import { expect, it } from 'vitest';
import { describeInBrowser, useConsole } from '../browser.ts';
import { says } from '../conversations.ts';

describeInBrowser('the crons', () => {
  const console = useConsole();

  it('are found by the filter in the address', async () => {
    const { client } = console;
    const { thread_id: threadId } = await client.threads.create();
    const enabled = await client.crons.create(threadId, 'agent', { schedule: '0 9 * * 1-5' });
    await client.crons.create(threadId, 'agent', { schedule: '0 9 * * 1-5', enabled: false });
    const page = await console.open(`/crons?thread=${threadId}`);
    const rows = page.getByRole('row');
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByRole('button', { name: 'enabled' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    await page.reload();
    await expect.poll(() => rows.count()).toBe(2);
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/crons/${enabled.cron_id}`);
    await page.goto(`${console.url}/console/crons?thread=00000000-0000-4000-8000-000000000000`);
    await page.getByRole('heading', { name: 'No cron matches the filter' }).waitFor();
  });

  it('are created, paused and deleted', async () => {
    const { thread_id: threadId } = await console.client.threads.create();
    const page = await console.open(`/crons?thread=${threadId}`, { expected: /422|404/ });
    await page.getByRole('button', { name: 'New cron…' }).click();
    await page.getByLabel('Assistant', { exact: true }).last().selectOption({ label: 'agent' });
    await page.getByLabel(/^Schedule/).fill('0 0 30 2 *');
    await page.getByLabel('Input, as JSON').fill('{ "order": 9007199254740993 }');
    await page.getByText('9007199254740993 would be rounded: write it as a text.').waitFor();
    await expect
      .poll(() => page.getByRole('button', { name: 'Create', exact: true }).isDisabled())
      .toBe(true);
    await page.getByLabel('Input, as JSON').fill('{ "messages": [] }');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'never fires' }).waitFor();
    await page.getByLabel(/^Schedule/).fill('0 25 * * *');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText(/^The schedule is not a cron expression: /).waitFor();
    await expect.poll(() => page.getByLabel(/^Schedule/).getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel(/^Schedule/).fill('0 9 * * 1-5');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.waitForURL('**/crons/*-*');
    await page.getByRole('link', { name: threadId }).waitFor();
    const cronId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(await console.client.crons.get(cronId)).toMatchObject({
      thread_id: threadId,
      schedule: '0 9 * * 1-5',
    });
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.locator('.badge', { hasText: 'paused' }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator('.badge', { hasText: 'enabled' }).waitFor();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the cron' }).click();
    await page.waitForURL(/\/crons$/);
    await expect(console.client.crons.get(cronId)).rejects.toThrow('404');
  });

  it('show the runs that they have created', async () => {
    const { client } = console;
    const cron = await client.crons.create(null, 'agent', {
      schedule: '0 9 * * 1-5',
      on_run_completed: 'keep',
    });
    // A run as the scheduler creates it, without the wait for its time.
    const { thread_id: threadId } = await client.threads.create();
    const metadata = { cron_id: cron.cron_id };
    const run = await client.runs.create(threadId, 'agent', { input: says('hello'), metadata });
    const page = await console.open(`/crons/${cron.cron_id}`);
    await page
      .getByRole('region', { name: 'Last runs' })
      .getByRole('link', { name: `Run ${run.run_id}` })
      .waitFor();
  });
});
