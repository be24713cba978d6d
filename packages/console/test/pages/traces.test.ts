import { expect, it } from 'vitest';
import { describeInBrowser, useConsole } from '../browser.ts';
import { closedGate, run, says } from '../conversations.ts';
import { startServerProcess } from '../serve.ts';
import { enterKey, tracesOf } from '../traces.ts';

describeInBrowser('the traces', () => {
  const console = useConsole();

  it('need an API key, which is asked for once and not stored in the browser', async () => {
    const traces = tracesOf(console.url);
    const traceId = await traces.send('keys', 1);
    const page = await console.open(`/traces/${traceId}`, { expected: /401/ });
    await page.getByRole('heading', { name: 'Traces need an API key' }).waitFor();
    await enterKey(page, 'not a key');
    await page.getByRole('alert').waitFor();
    await enterKey(page);
    await page.getByRole('heading', { name: 'agent of keys', level: 1 }).waitFor();
    expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0);
    await page.reload();
    await page.getByRole('heading', { name: 'agent of keys', level: 1 }).waitFor();
    expect(await page.evaluate(() => document.cookie)).toBe('');
  });

  it('need a key that may read, of one workspace', async () => {
    // A server of its own: with a second workspace, its first key needs the id of one.
    await using server = await startServerProcess();
    const { client } = tracesOf(server.url);
    const ingest = await client.keys.create({ role: 'ingest' });
    const second = await client.workspaces.create('second');
    const page = await console.open('/traces', { url: server.url, expected: /400|403/ });
    await enterKey(page, ingest.key);
    await page.getByRole('alert').filter({ hasText: 'ingest' }).waitFor();
    await enterKey(page);
    await page.getByRole('alert').filter({ hasText: 'The key has access to 2 workspaces' }).waitFor();
    await page.getByLabel(/^Workspace id/).fill(second.id);
    await page.getByRole('button', { name: 'Use this key' }).click();
    await page.getByRole('heading', { name: 'There are no traces yet' }).waitFor();
    await page.getByRole('button', { name: 'Forget the API key' }).click();
    await page.getByRole('heading', { name: 'Traces need an API key' }).waitFor();
    // Before the server ends, because the page would report failed requests.
    await page.close();
  });

  it('of a cancelled run are cancelled in the list, the tree and the header', async () => {
    await using gate = closedGate();
    const { thread_id: threadId } = await console.client.threads.create();
    const { run_id: runId } = await console.client.runs.create(threadId, 'patient', {
      input: says(gate.word),
    });
    await expect.poll(async () => (await console.client.runs.get(threadId, runId)).status).toBe('running');
    await console.client.runs.cancel(threadId, runId, { wait: true });
    await tracesOf(console.url).eventually(runId);
    const page = await console.open(`/traces?filter=${encodeURIComponent('eq(status, "error")')}`);
    await enterKey(page);
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: runId }) });
    await row.locator('.badge', { hasText: 'cancelled' }).waitFor();
    await row.getByRole('link', { name: runId }).click();
    await page.locator('.page-head .badge', { hasText: 'cancelled' }).waitFor();
    await page.getByRole('treeitem', { name: /patient.*cancelled/ }).waitFor();
    await expect.poll(() => page.locator('.page-head .badge').getAttribute('title')).toBe('status error');
  });

  it('are found by the filter in the address', async () => {
    const traces = tracesOf(console.url);
    await traces.send('filter-a', 3);
    await traces.send('filter-b', 3);
    const [project] = await traces.client.projects.list({ name: 'filter-a' });
    const page = await console.open('/traces?filter=search("agent of filter")', { expected: /422/ });
    await enterKey(page);
    const rows = page.getByRole('row');
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByLabel('Project').selectOption('filter-a');
    await expect.poll(() => rows.count()).toBe(2);
    expect(new URL(page.url()).searchParams.get('project')).toBe(project?.id);
    await page.keyboard.press('/');
    await page.getByLabel('Filter', { exact: true }).fill('gt(name, 5)');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'gt() cannot be used with name' }).waitFor();
    await page.getByLabel('Filter', { exact: true }).fill('neq(error, null)');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No trace matches the filter' }).waitFor();
    await page.getByRole('button', { name: 'all trace runs' }).click();
    await page.getByRole('cell', { name: 'TimeoutError: the tool has not answered' }).waitFor();
    await page.getByLabel('Filter', { exact: true }).blur();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Selected span' }).getByText('TimeoutError').waitFor();
  });
});

describeInBrowser('a trace', () => {
  const console = useConsole();

  it('and its thread are found by a text that was said, and threads by their metadata, with the keyboard', async () => {
    const said = 'Add 12 and 30 for the refund of 300 EUR';
    const { threadId, runId } = await run(console.client, 'agent', says(said));
    await console.client.threads.update(threadId, { metadata: { customer: 'Ann Lee' } });
    await tracesOf(console.url).eventually(runId);
    const page = await console.open('/traces');
    await enterKey(page);
    const goTo = async (text: string, found: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(text);
      await page.getByRole('option', { name: found }).waitFor();
      await page.keyboard.press('Enter');
    };
    await goTo('"refund of 300 EUR"', 'Traces with “refund of 300 EUR”');
    await page
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name: runId }) })
      .waitFor();
    await expect.poll(() => page.getByRole('link', { name: runId }).count()).toBe(1);
    await page.getByRole('link', { name: runId }).click();
    await page.getByRole('link', { name: 'Open the thread' }).click();
    await page.waitForURL(`**/threads/${threadId}`);
    await goTo('customer:"Ann Lee"', 'Threads with customer:"Ann Lee"');
    await page.waitForURL(/threads\?meta=/);
    await page.getByRole('link', { name: threadId }).waitFor();
  });

  it('is linked with its run and its thread', async () => {
    const { threadId, runId } = await run(console.client, 'agent', says('Add 3 and 4'));
    await tracesOf(console.url).eventually(runId);
    const page = await console.open(`/runs/${runId}?thread=${threadId}`);
    await page.getByRole('link', { name: 'Trace', exact: true }).click();
    await enterKey(page);
    const tree = page.getByRole('tree', { name: 'Spans of the trace' });
    await tree.getByRole('treeitem', { name: /^tools chain/ }).click();
    await page.waitForURL(/sel=/);
    await page
      .getByRole('region', { name: 'Selected span' })
      .getByRole('heading', { name: 'tools' })
      .waitFor();
    await page.getByRole('link', { name: 'Open the thread' }).waitFor();
    await page.getByRole('link', { name: 'Open the run' }).click();
    await page.waitForURL(`**/runs/${runId}?**`);
  });

  it('are compared side by side', async () => {
    const traces = tracesOf(console.url);
    const left = await traces.send('compared', 2);
    const right = await traces.send('compared', 3);
    const page = await console.open(`/traces/${left}`);
    await enterKey(page);
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByRole('link', { name: right.slice(0, 8) }).click();
    const spans = page.getByRole('listbox', { name: 'Spans of both traces' }).getByRole('option');
    await expect.poll(() => spans.count()).toBe(4);
    await spans.filter({ hasText: 'tool 3only right' }).click();
    await page.getByRole('region', { name: 'Selected span' }).getByText('TimeoutError').waitFor();
    await page.keyboard.press('ArrowUp');
    const differences = page.getByRole('region', { name: 'Differences' });
    await differences.getByRole('heading', { name: 'tool 2' }).waitFor();
    await differences.getByRole('heading', { name: 'Error' }).waitFor();
    await differences.getByText('Nothing is different.').first().waitFor();
    const { href } = new URL(page.url());
    await page.reload();
    await differences.getByRole('heading', { name: 'tool 2' }).waitFor();
    expect(page.url()).toBe(href);
    await page.getByRole('link', { name: 'Swap' }).click();
    await spans.filter({ hasText: 'tool 3only left' }).waitFor();
  });

  it('of 10,000 spans has only the visible ones in the page, and is walked by the keyboard', async () => {
    const traceId = await tracesOf(console.url).send('large', 9_999);
    const page = await console.open(`/traces/${traceId}`);
    await enterKey(page);
    await page.getByText('10,000 spans').waitFor();
    const items = page.getByRole('treeitem');
    await items.nth(10).waitFor();
    await expect.poll(() => items.count()).toBeLessThan(100);
    await page.getByRole('tree').focus();
    await page.keyboard.press('End');
    await page.getByRole('treeitem', { name: /^tool 9999 / }).waitFor();
    await expect.poll(() => items.count()).toBeLessThan(100);
    await page.getByRole('region', { name: 'Selected span' }).getByText('TimeoutError').waitFor();
    await page.keyboard.press('Home');
    await page.keyboard.press('!');
    await page.getByRole('treeitem', { name: /^tool 9999 .*error/, selected: true }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => items.count()).toBe(1);
    await page.getByLabel('Find spans by name, type or error').fill('tool 777');
    await page.getByText('11 found').waitFor();
    await expect.poll(() => items.count()).toBe(12);
  });

  it('that does not exist says so', async () => {
    const page = await console.open('/traces/00000000-0000-4000-8000-000000000000', { expected: /404/ });
    await enterKey(page);
    await page.getByRole('heading', { name: 'There is no such trace' }).waitFor();
  });
});
