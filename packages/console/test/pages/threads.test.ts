import { expect, it } from 'vitest';
import { describeInBrowser, useConsole } from '../browser.ts';
import { closedGate, run, says } from '../conversations.ts';

describeInBrowser('the threads', () => {
  const console = useConsole();

  it('are found by the filter in the address, with the first words of their newest message', async () => {
    await run(console.client, 'agent', says('Weather in Oslo?'), { case: 'filter' });
    await run(console.client, 'patient', says('fail'), { case: 'filter' });
    const page = await console.open('/threads?meta=case:filter');
    const rows = page.getByRole('row');
    await page.getByRole('cell', { name: 'The weather: snow, -3 °C.' }).waitFor();
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByRole('group', { name: 'Status' }).getByRole('button', { name: 'error' }).click();
    await expect.poll(() => rows.count()).toBe(2);
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({ status: 'error', meta: 'case:filter' });
    await page.reload();
    await page.getByRole('cell', { name: 'patient' }).waitFor();
    await expect.poll(() => rows.count()).toBe(2);
  });

  it('that are busy name the run that has not ended, and those behind it', async () => {
    await using gate = closedGate();
    const { thread_id: threadId } = await console.client.threads.create();
    const first = await console.client.runs.create(threadId, 'patient', { input: says(gate.word) });
    await console.client.runs.create(threadId, 'patient', { input: says('b') });
    const page = await console.open(`/threads/${threadId}`);
    const notice = page.getByRole('status').filter({ hasText: `Run ${first.run_id.slice(0, 8)} is running` });
    await notice.getByText('1 more behind it').waitFor();
    // Screen readers announce what a status contains at each change.
    await expect.poll(() => notice.getByRole('time').count()).toBe(0);
    await page.getByRole('link', { name: 'Open the run' }).click();
    await page.waitForURL(`**/runs/${first.run_id}?**`);
    await page.goBack();
    await gate.open();
    await notice.waitFor({ state: 'detached' });
  });

  it('whose last run has failed show the error, and lead to the run', async () => {
    const { threadId, runId } = await run(console.client, 'patient', says('fail'));
    const page = await console.open(`/threads/${threadId}`);
    await page.getByText('The last run failed').waitFor();
    await page.getByRole('link', { name: 'Open the run' }).click();
    await page.waitForURL(`**/runs/${runId}?**`);
  });

  it('are found by the time by which they are sorted', async () => {
    const metadata = { case: 'time' };
    const earlier = await console.client.threads.create({ metadata });
    await run(console.client, 'agent', says('hello'));
    const later = await console.client.threads.create({ metadata });
    const ranged = `meta=case:time&sort=created_at&from=${encodeURIComponent(later.created_at)}`;
    const page = await console.open(`/threads?${ranged}`, { hasClock: true });
    const rowOf = ({ thread_id: id }: { thread_id: string }) =>
      page.getByRole('link', { name: `Thread ${id}` });
    await rowOf(later).waitFor();
    await expect.poll(() => rowOf(earlier).count()).toBe(0);
    const created = page.getByLabel('Created', { exact: true });
    await expect.poll(() => created.locator('option:checked').textContent()).toMatch(/^from \d/);
    await created.selectOption('Created in the last 1h');
    await rowOf(earlier).waitFor();
    await expect.poll(() => rowOf(later).count()).toBe(1);
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({ meta: 'case:time', since: '1h', sort: 'created_at' });
    await page.clock.setSystemTime(Date.now() + 2 * 3_600_000);
    await page.getByLabel('Order').selectOption('Newest change first');
    await page.getByRole('heading', { name: 'No thread matches the filter' }).waitFor();
    await page.getByLabel('Changed', { exact: true }).selectOption('Changed in the last 1d');
    await rowOf(earlier).waitFor();
  });

  it('that are interrupted say whether they ask', async () => {
    const metadata = { case: 'interrupted' };
    const asking = await run(console.client, 'approval', { topic: 'the list' }, metadata);
    const { thread_id: stopped } = await console.client.threads.create({ metadata });
    const options = { input: says('wait'), interrupt_before: ['repeat'] };
    await console.client.runs.wait(stopped, 'patient', options);
    const page = await console.open('/threads?meta=case:interrupted');
    await page.getByRole('row', { name: `interrupted · asks Thread ${asking.threadId}` }).waitFor();
    await page.getByRole('row', { name: `interrupted · stopped Thread ${stopped}` }).click();
    await page.getByText('interrupted · stopped', { exact: true }).waitFor();
    await console.client.runs.wait(stopped, 'patient');
    await page.getByText('idle', { exact: true }).waitFor();
    await page.goto(`${console.url}/console/threads/${asking.threadId}`);
    await page.getByText('interrupted · asks', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Answer in the inbox' }).click();
    await page.waitForURL(`**/inbox?sel=${asking.threadId}`);
  });

  it('say when nothing matches, and clear the filter', async () => {
    await run(console.client, 'agent', says('hello'));
    const page = await console.open('/threads?meta=case:nothing');
    await page.getByRole('heading', { name: 'No thread matches the filter' }).waitFor();
    await page.getByRole('link', { name: 'Clear the filter' }).click();
    await page.getByRole('table').waitFor();
  });

  it('open by their id in the filter field', async () => {
    const { threadId } = await run(console.client, 'agent', says('hello'));
    const page = await console.open('/threads');
    await page.getByRole('heading', { name: 'Threads' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(threadId);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/threads/${threadId}`);
  });
});

describeInBrowser('a thread', () => {
  const console = useConsole();

  it('shows what each checkpoint has changed, at an address of its own', async () => {
    const { threadId } = await run(console.client, 'agent', says('Add 2 and 40'));
    const page = await console.open(`/threads/${threadId}`);
    await page.getByText('The sum is 42.').waitFor();
    await page.getByRole('tab', { name: 'Checkpoints' }).click();
    await page.getByRole('region', { name: 'added messages[3]' }).waitFor();
    await page.getByRole('link', { name: /^2 ?tools/ }).click();
    await page.getByRole('region', { name: 'added messages[2]' }).waitFor();
    await page.reload();
    await page.getByRole('region', { name: 'added messages[2]' }).waitFor();
    await page.getByRole('button', { name: 'All values' }).click();
    await page.getByText('3 elements').waitFor();
  });

  it('is copied with its history', async () => {
    const { threadId } = await run(console.client, 'agent', says('Add 2 and 5'));
    const page = await console.open(`/threads/${threadId}`);
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.waitForURL((url) => url.pathname.includes('/threads/') && !url.pathname.endsWith(threadId));
    await page.getByText('The sum is 7.').waitFor();
  });

  it('is deleted after a question', async () => {
    const { threadId } = await run(console.client, 'agent', says('goodbye'));
    // The page may read the thread once more before it is left.
    const page = await console.open(`/threads/${threadId}`, { expected: /404/ });
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the thread' }).click();
    await page.waitForURL(/\/threads$/);
    await expect(console.client.threads.get(threadId)).rejects.toThrow('404');
  });

  it('does not open the list when it is deleted after the user has left it', async () => {
    const { threadId } = await run(console.client, 'agent', says('goodbye'));
    const page = await console.open(`/threads/${threadId}`, { expected: /404/ });
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route(`**/threads/${threadId}`, async (route) => {
      if (route.request().method() === 'DELETE') await released;
      await route.continue();
    });
    const isDeletion = (request: { method: () => string }): boolean => request.method() === 'DELETE';
    await page.getByRole('button', { name: 'Delete…' }).click();
    const sent = page.waitForRequest(isDeletion);
    await page.getByRole('button', { name: 'Delete the thread' }).click();
    await sent;
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.type('gr');
    await page.waitForURL(/\/runs$/);
    const deleted = page.waitForResponse((response) => isDeletion(response.request()));
    const visited: string[] = [];
    page.on('framenavigated', (frame) => visited.push(new URL(frame.url()).pathname));
    release();
    await deleted;
    // What follows the deletion in the page happens before the next page has its list.
    const listed = page.waitForResponse('**/crons/search');
    await page.keyboard.type('gc');
    await listed;
    await page.getByRole('heading', { name: 'Crons', exact: true }).waitFor();
    expect([...new Set(visited)]).toEqual(['/console/crons']);
    await expect(console.client.threads.get(threadId)).rejects.toThrow('404');
  });

  it('that does not exist is said to be missing', async () => {
    const missing = '00000000-0000-4000-8000-000000000000';
    const page = await console.open(`/threads/${missing}`, { expected: /404/ });
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.getByText(/^request /).waitFor();
  });
});
