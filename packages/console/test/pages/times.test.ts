// Every page shows the time of the browser, and UTC in the titles.
import { expect, it } from 'vitest';
import { describeInBrowser, useConsole } from '../browser.ts';
import { run, says } from '../conversations.ts';

const timeZone = 'Asia/Tokyo';

const localText = (at: string, zone = timeZone): string =>
  new Date(at)
    .toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: zone })
    .replace(/ at /, ', ');

describeInBrowser('the times of the console', () => {
  const console = useConsole();

  it('are those of the browser on the pages of a run and a thread, with UTC in their titles', async () => {
    const { threadId, runId } = await run(console.client, 'agent', says('hello'));
    const { created_at: at } = await console.client.runs.get(threadId, runId);
    const page = await console.open(`/runs/${runId}?thread=${threadId}`, { timeZone });
    const created = page.locator('time', { hasText: `${localText(at)} GMT+9` }).first();
    await created.waitFor();
    expect(await created.getAttribute('title')).toBe(`${localText(at)} GMT+9\nUTC: ${at}`);
    expect(await page.locator('main, .page').first().innerText()).not.toMatch(/\dT\d\d:\d\d/);
    const thread = await console.client.threads.get(threadId);
    await page.goto(`${console.url}/console/threads/${threadId}?tab=details`);
    await page
      .getByText(`${localText(thread.created_at)} GMT+9`)
      .first()
      .waitFor();
  });

  it('are in UTC on every page when the person chooses so, also after a reload', async () => {
    const { threadId, runId } = await run(console.client, 'agent', says('hello'));
    const { created_at: at } = await console.client.runs.get(threadId, runId);
    const page = await console.open(`/runs/${runId}?thread=${threadId}`, { timeZone });
    const local = page.locator('time', { hasText: `${localText(at)} GMT+9` });
    await local.first().waitFor();
    await page.getByLabel('Times').selectOption('UTC');
    const utc = page.locator('time', { hasText: `${localText(at, 'UTC')} UTC` });
    await utc.first().waitFor();
    expect(await local.count()).toBe(0);
    await page.reload();
    await utc.first().waitFor();
    await page.getByLabel('Times').selectOption('local');
    await local.first().waitFor();
  });

  it('says in the time of the browser when a delayed run may start', async () => {
    const { thread_id: thread } = await console.client.threads.create();
    const { run_id: runId } = await console.client.runs.create(thread, 'agent', {
      input: { messages: [] },
      after_seconds: 3_600,
    });
    const { waiting_for: waiting } = await console.client.runs.get(thread, runId);
    const page = await console.open(`/runs/${runId}?thread=${thread}`, { timeZone });
    await page.getByText(`The run may start at ${localText(waiting?.until ?? '')} GMT+9`).waitFor();
    await console.client.runs.cancel(thread, runId, { wait: true });
  });
});
