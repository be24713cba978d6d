// What a person does with a whole list: columns, saved views, files, and code.
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { run, says } from '../conversations.ts';
import { describeInBrowser, seriousFindings, useConsole, type Page } from '../browser.ts';
import { enterKey, tracesOf } from '../traces.ts';

const saved = async (page: Page, format: 'CSV' | 'JSON'): Promise<string> => {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: format, exact: true }).click();
  return readFile(await (await download).path(), 'utf8');
};

describeInBrowser('a list', () => {
  const console = useConsole();

  it('of runs has columns to choose, chips that filter, views with a name, and files', async () => {
    const hostile = '=1+1 <img src=x onerror=alert(1)>';
    const { runId } = await run(console.client, 'agent', says('hello'), { case: 'tools', team: hostile });
    await run(console.client, 'agent', says('hello'), { case: 'tools', team: 'other', labels: ['a'] });
    const page = await console.open('/runs?meta=case:tools');
    const rows = page.locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole('button', { name: 'List…' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'This list of runs' });
    await dialog.getByLabel('Metadata').press('Space');
    await dialog.getByLabel('Attempt').click();
    expect(await seriousFindings(page)).toEqual([]);
    const csv = await saved(page, 'CSV');
    expect(csv).toContain('run_id,thread_id');
    expect(csv).toContain(runId);
    expect(JSON.parse(await saved(page, 'JSON'))).toHaveLength(2);
    await dialog.getByText('2 saved.').waitFor();
    await dialog.getByRole('group', { name: 'Python' }).getByText('httpx.post(').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('columnheader', { name: 'Metadata' }).waitFor();
    await expect.poll(() => page.getByRole('columnheader', { name: 'Attempt' }).count()).toBe(0);
    // The filter has no lists.
    await page.getByText('labels = ["a"]').waitFor();
    await page.getByRole('link', { name: `team = ${hostile}` }).press('Enter');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('button', { name: 'List…' }).click();
    await dialog.getByLabel('Name of the view').fill('Team of the test');
    await page.keyboard.press('Enter');
    await dialog.getByRole('link', { name: 'Team of the test' }).waitFor();
    await page.goto(`${console.url}/console/runs?meta=case:tools`);
    await page.getByRole('columnheader', { name: 'Metadata' }).waitFor();
    await page.getByRole('button', { name: 'List…' }).click();
    await dialog.getByRole('link', { name: 'Team of the test' }).press('Enter');
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole('button', { name: 'List…' }).click();
    await dialog.getByRole('button', { name: 'Forget Team of the test' }).click();
    await dialog.getByLabel('Metadata').click();
    await dialog.getByLabel('Attempt').click();
  });

  it('of threads, assistants and traces has them too, and an object has its code', async () => {
    const { threadId } = await run(console.client, 'agent', says('hello'), { case: 'thread tools' });
    const page = await console.open('/threads?meta=case:"thread tools"');
    await page.getByRole('button', { name: 'List…' }).click();
    await page.getByRole('group', { name: 'Python' }).getByText('client.threads.search(').waitFor();
    expect(await saved(page, 'CSV')).toContain(threadId);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: `Thread ${threadId}` }).click();
    await page.getByRole('button', { name: 'Code…' }).press('Enter');
    await page.getByRole('group', { name: 'curl' }).getByText(`/threads/${threadId}`).waitFor();
    await page.goto(`${console.url}/console/assistants?graph=agent`);
    await page.getByRole('button', { name: 'List…' }).click();
    await page.getByRole('group', { name: 'TypeScript' }).getByText('client.assistants.search(').waitFor();
    expect(await saved(page, 'CSV')).toContain('assistant_id,graph_id');
    await tracesOf(console.url).send('list tools', 1);
    await page.goto(`${console.url}/console/traces`);
    await enterKey(page);
    await page.getByRole('button', { name: 'List…' }).click();
    await page.getByRole('group', { name: 'curl' }).getByText('x-api-key: $SVC_PLATFORM_API_KEY').waitFor();
    expect(await saved(page, 'CSV')).toContain('trace_id');
  });
});
