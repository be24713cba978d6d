// What Home says about runs, webhooks and exports that need somebody. The server has nothing else.
import { createClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { eventually } from '../../../server/test/eventually.ts';
import {
  describeInBrowser,
  focused,
  seriousFindings,
  shownByAPoll,
  useConsole,
  type OpenOptions,
  type Page,
} from '../browser.ts';
import { closedGate, run, says } from '../conversations.ts';
import { bucket, startExport, untilRetried } from '../exports.ts';
import { quotaExceeded, startObjectStore } from '../object-store.ts';
import { listen } from '../receiver.ts';
import { enterKey, tracesOf } from '../traces.ts';
import { useServer } from '../use-server.ts';

const minuteMs = 60_000;

const finding = (page: Page, text: string | RegExp) =>
  page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem').filter({ hasText: text });

describeInBrowser('home', () => {
  const console = useConsole();
  const server = useServer();

  const open = (options: OpenOptions = {}): Promise<Page> =>
    console.open('/', { url: server.url, ...options });

  /** Opens the page in a browser with this fixed date. Its timers run. */
  const openAt = async (ms: number): Promise<Page> => {
    const page = await open({ hasClock: true });
    await page.clock.setFixedTime(ms);
    return page;
  };

  it('says that nothing needs attention', async () => {
    await run(createClient({ apiUrl: server.url }), 'agent', says('hello'));
    const page = await open();
    await page.getByText('Nothing: no run is stuck').waitFor();
    await page.getByRole('button', { name: 'Enter the key…' }).click();
    await page.getByRole('dialog', { name: 'Exports need an API key' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await expect.poll(() => focused(page)).toBe('Enter the key…');
  });

  it('leads from a run that is pending to the run in front of it, which can be cancelled', async () => {
    const client = createClient({ apiUrl: server.url });
    await using gate = closedGate();
    const { thread_id: threadId } = await client.threads.create();
    const first = await client.runs.create(threadId, 'patient', { input: says(`a ${gate.word}`) });
    const second = await client.runs.create(threadId, 'patient', { input: says('b') });
    const page = await openAt(Date.parse(second.created_at) + 11 * minuteMs);
    const pending = finding(page, `Run ${second.run_id.slice(0, 8)} of patient has been pending for 11 min`);
    await shownByAPoll(page, pending);
    await pending.getByText(`Waits for run ${first.run_id} on the same thread`).waitFor();
    await finding(page, `Run ${first.run_id.slice(0, 8)} of patient has been running for 1`).waitFor();
    await pending.getByRole('link', { name: 'Open the run in front' }).click();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await page.locator('.badge', { hasText: 'cancelled' }).waitFor();
    await page.getByRole('button', { name: 'Cancel…' }).waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).not.toBe('BODY');
    await page.getByRole('link', { name: 'Home' }).click();
    await shownByAPoll(page, page.getByText('Nothing: no run is stuck'));
  });

  it('leads to deliveries that are retried, and to those that have failed', async () => {
    const client = createClient({ apiUrl: server.url });
    await using broken = await listen((_, response) => response.writeHead(500).end());
    await using refusing = await listen((_, response) => response.writeHead(418).end());
    for (const { url } of [broken, refusing]) {
      const { thread_id: threadId } = await client.threads.create();
      await client.runs.create(threadId, 'agent', { input: says('hello'), webhook: `${url}/hook` });
    }
    const page = await open();
    const retried = finding(page, '1 webhook delivery is retried after an error, the next attempt is');
    await retried.getByText(`${broken.url}/hook: The answer was 500`).waitFor();
    await finding(page, '1 webhook delivery failed in the last day').getByRole('link').click();
    await page.getByRole('region', { name: `Delivery to ${refusing.url}/hook` }).waitFor();
    await page.getByRole('button', { name: 'Send again' }).waitFor();
    await page.goBack();
    await retried.getByRole('link').click();
    await page.getByRole('button', { name: 'Send now' }).waitFor();
    const row = page.getByRole('row').filter({ hasText: `${broken.url}/hook` });
    await row.first().getByText('retrying').waitFor();
  });

  it('leads from an export that fails or is retried to the credentials of its destination', async () => {
    const traces = tracesOf(server.url);
    await traces.send('to-home', 2);
    await using store = await startObjectStore();
    const wrong = await bucket(traces, 'wrong key', store);
    const full = await bucket(traces, 'full bucket', store);
    store.refusal = quotaExceeded;
    const retried = await startExport(traces, 'to-home', full.id);
    await untilRetried(traces, retried.id, 1);
    store.refusal = { status: 403, code: 'InvalidAccessKeyId', message: 'The key id does not exist here.' };
    const failed = await startExport(traces, 'to-home', wrong.id);
    await expect.poll(async () => (await traces.client.exports.get(failed.id)).status).toBe('FAILED');
    store.refusal = quotaExceeded;
    const page = await open();
    await page.getByRole('button', { name: 'Enter the key…' }).click();
    await enterKey(page);
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    // The button that opened the dialog is gone with it.
    await expect.poll(() => focused(page)).toBe('Needs attention');
    const retrying = finding(page, '1 export to full bucket is retried after an error');
    await retrying.getByText(/The bucket has 20 of 20 GB/).waitFor();
    const failure = finding(page, '1 export to wrong key failed in the last day');
    await failure.getByText(/The key id does not exist here/).waitFor();
    await failure.getByRole('link', { name: 'Open the export' }).click();
    const progress = page.getByRole('progressbar', { name: 'Progress', exact: true });
    await expect.poll(() => progress.getAttribute('data-tone')).toBe('red');
    await page.getByRole('alert').getByRole('link', { name: 'Open the destination' }).click();
    await page.getByRole('button', { name: 'Change credentials…' }).waitFor();
    await traces.client.exports.cancel(retried.id);
  });

  it('leads to failed runs, to a cron whose runs fail, and to the question that waits longest', async () => {
    const client = createClient({ apiUrl: server.url });
    const { cron_id: cronId } = await client.crons.create(null, 'patient', { schedule: '0 0 1 1 *' });
    for (const words of ['fail first', 'fail again', 'fail more'])
      await run(client, 'patient', says(words), { cron_id: cronId });
    const oldest = await run(client, 'approval', { topic: 'the oldest question' });
    await run(client, 'approval', { topic: 'another question' });
    const page = await open();
    const failed = finding(page, '3 runs failed in the last day');
    await failed.getByText('TypeError: The plan has no first step.').waitFor();
    await finding(page, `The last 3 runs of cron ${cronId.slice(0, 8)} have failed`)
      .getByRole('link', { name: 'Open the cron' })
      .click();
    await page.waitForURL(`**/crons/${cronId}`);
    await page.goBack();
    await failed.getByRole('link', { name: 'Open the failed runs' }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(3);
    await page.goBack();
    await finding(page, '2 threads wait for an answer, the oldest for')
      .getByRole('link', { name: 'Open the oldest question' })
      .click();
    await page.waitForURL(`**/inbox?sel=${oldest.threadId}`);
  });

  it('leads to the trace of a run that took much longer than others of its assistant', async () => {
    const client = createClient({ apiUrl: server.url });
    // Runs of other tests are not compared with its runs.
    const { assistant_id: assistant } = await client.assistants.create({
      graph_id: 'patient',
      name: 'mostly fast',
    });
    await using gate = closedGate();
    const { thread_id: threadId } = await client.threads.create();
    const slow = await client.runs.create(threadId, assistant, { input: says(gate.word) });
    // The slow run waits while these are executed, so on a loaded machine it is slow when they end.
    const fastMs: number[] = [];
    for (const words of ['a', 'b', 'c', 'd']) {
      const { threadId: of, runId } = await run(client, assistant, says(words));
      const { started_at: from = '', ended_at: to = '' } = await client.runs.get(of, runId);
      fastMs.push(Date.parse(to) - Date.parse(from));
    }
    const enoughMs = Math.max(2_500, 3.5 * Math.max(...fastMs));
    await eventually(async () => {
      const { started_at: startedAt } = await client.runs.get(threadId, slow.run_id);
      expect(Date.now() - Date.parse(startedAt ?? '')).toBeGreaterThan(enoughMs);
    }, 60_000);
    await gate.open();
    await client.runs.join(threadId, slow.run_id);
    const page = await open();
    await finding(page, /of mostly fast executed for .*; the median is/)
      .getByRole('link', { name: 'Open the trace of the slowest' })
      .click();
    await page.waitForURL(`**/traces/${slow.run_id}`);
  });

  it('cuts no panel off on a small screen', async () => {
    const page = await open({ viewport: { width: 360, height: 500 } });
    await page.getByRole('region', { name: 'Newest runs' }).getByRole('row').first().waitFor();
    const clipped = await page
      .locator('.panel')
      .evaluateAll((panels) => panels.filter((panel) => panel.scrollHeight > panel.clientHeight + 1).length);
    expect(clipped).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  });
});
