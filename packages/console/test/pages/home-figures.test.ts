// The queue and the plots of Home.
import { randomUUID } from 'node:crypto';
import { createClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { bucketText } from '../../src/plots/bucket-text.ts';
import {
  describeInBrowser,
  seriousFindings,
  shownByAPoll,
  useConsole,
  type OpenOptions,
  type Page,
} from '../browser.ts';
import { closedGate, run, says } from '../conversations.ts';
import { enterKey, tracesOf } from '../traces.ts';
import { useServer } from '../use-server.ts';

const figure = (page: Page, title: string) => page.getByRole('figure', { name: title });

/** The rows of a plot in which the series has a value that is not 0. */
const countedRows = async (page: Page, title: string, column: number): Promise<string[]> => {
  const rows = figure(page, title).getByRole('row');
  const texts = await rows.evaluateAll(
    (all, at) =>
      all.slice(1).map((row) => [...row.children].map(({ textContent: text }) => text ?? '')[at] ?? ''),
    column,
  );
  return texts.filter((text) => text !== '0' && text !== '–');
};

describeInBrowser('the figures of home', () => {
  const console = useConsole();
  const server = useServer({ env: { SVC_N_JOBS_PER_WORKER: '2' } });

  const open = (path = '/', options: OpenOptions = {}): Promise<Page> =>
    console.open(path, { url: server.url, ...options });

  it('say that no run was there, and have plots when one has ended', async () => {
    // Without a thread, Home shows how to start.
    await createClient({ apiUrl: server.url }).threads.create();
    const page = await open();
    await page.getByText('No run was created or ended in this time.').waitFor();
    await run(createClient({ apiUrl: server.url }), 'agent', says('hello'));
    await page.reload();
    await figure(page, 'Ended runs').locator('canvas').waitFor();
    await figure(page, 'Wait until the first attempt').locator('canvas').waitFor();
    await figure(page, 'Duration from the first attempt').locator('canvas').waitFor();
  });

  it('count pending runs and taken slots, and show the age of the oldest run that waits for a worker', async () => {
    const client = createClient({ apiUrl: server.url });
    await using gate = closedGate();
    const input = says(`a ${gate.word}`);
    await client.runs.createBatch(Array.from({ length: 3 }, () => ({ assistant_id: 'patient', input })));
    const page = await open('/', { hasClock: true });
    await shownByAPoll(page, page.getByRole('link', { name: /^2 running; 1 worker, 2 slots$/ }));
    const pending = page.getByRole('link', { name: /^1 pending, one waits .* for a worker$/ });
    await shownByAPoll(page, pending);
    await pending.click();
    await page.waitForURL('**/runs?status=pending&**');
    await page.getByRole('region', { name: 'Runs', exact: true }).getByRole('row').nth(1).waitFor();
    await gate.open();
    await page.getByRole('link', { name: 'Home' }).click();
    await shownByAPoll(page, page.getByRole('link', { name: '0 pending', exact: true }));
    await shownByAPoll(page, page.getByRole('link', { name: /^0 running;/ }));
  });

  it('lead from a minute to the runs that ended in it, by the table and by a click on the plot', async () => {
    const client = createClient({ apiUrl: server.url });
    const { threadId, runId } = await run(client, 'patient', says('fail'));
    const endedMs = Date.parse((await client.runs.get(threadId, runId)).ended_at ?? '');
    const page = await open();
    const ended = figure(page, 'Ended runs');
    // Home shows the run, too, until the other page is there.
    const list = page.getByRole('region', { name: 'Runs', exact: true });
    const listed = list.getByRole('link', { name: `Run ${runId}` });
    await ended.getByText('Show as a table').click();
    await expect.poll(() => ended.getByRole('row').count()).toBe(61);
    const columns = await ended.getByRole('columnheader').allInnerTexts();
    expect(columns).toEqual(['Time', 'success', 'cancelled', 'timeout', 'error']);
    await expect.poll(async () => (await countedRows(page, 'Ended runs', 4)).length).toBeGreaterThan(0);
    expect(await seriousFindings(page)).toEqual([]);
    const minuteMs = Math.floor(endedMs / 60_000) * 60_000;
    await ended.getByRole('button', { name: bucketText(60_000).bucket(minuteMs) }).click();
    await page.waitForURL('**/runs?ended_from=**');
    await listed.waitFor();
    const range = page.getByLabel('Ended', { exact: true });
    const text = await range.locator('option').first().innerText();
    expect(text).toMatch(/^Ended .*\d\d:\d\d–\d\d:\d\d$/);
    expect(await seriousFindings(page)).toEqual([]);
    await page.reload();
    await listed.waitFor();
    await range.selectOption('Ended at any time');
    await expect.poll(() => new URL(page.url()).search).toBe('');
    await range.waitFor({ state: 'detached' });
    await page.goBack();
    await figure(page, 'Ended runs')
      .locator('.u-over')
      .click({ position: { x: 4, y: 20 } });
    await page.waitForURL('**/runs?ended_from=**');
    await page.getByRole('heading', { name: 'No run matches the filter' }).waitFor();
  });

  it('show the values below the cursor in all plots', async () => {
    await run(createClient({ apiUrl: server.url }), 'agent', says('hello'));
    const page = await open();
    const over = figure(page, 'Ended runs').locator('.u-over');
    await over.hover({ position: { x: 4, y: 20 } });
    for (const title of ['Ended runs', 'Wait until the first attempt', 'Duration from the first attempt'])
      await figure(page, title)
        .getByText(/\d\d:\d\d–\d\d:\d\d$/)
        .waitFor();
    await figure(page, 'Ended runs').getByText('success0').waitFor();
  });

  it('are of the time in the address', async () => {
    await run(createClient({ apiUrl: server.url }), 'agent', says('hello'));
    const page = await open('/?since=7d');
    await page.getByRole('heading', { name: 'Last 7 days' }).waitFor();
    await figure(page, 'Ended runs').getByText('Show as a table').click();
    await expect.poll(() => figure(page, 'Ended runs').getByRole('row').count()).toBe(85);
    await page.getByRole('button', { name: '6h', exact: true }).click();
    await page.waitForURL('**/console/?since=6h');
    await expect.poll(() => figure(page, 'Ended runs').getByRole('row').count()).toBe(73);
    await page.getByRole('button', { name: '1h', exact: true }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  it('are drawn in the colours of the scheme, and as wide as their box', async () => {
    await run(createClient({ apiUrl: server.url }), 'agent', says('hello'));
    const page = await open('/?since=7d');
    const canvas = figure(page, 'Ended runs').locator('canvas');
    await canvas.waitFor();
    const picture = (): Promise<string> =>
      canvas.evaluate((element) => (element as HTMLCanvasElement).toDataURL());
    const light = await picture();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(picture).not.toBe(light);
    await page.setViewportSize({ width: 400, height: 800 });
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    const widths = (): Promise<number[]> =>
      canvas.evaluate((element) => [
        Math.round(element.getBoundingClientRect().width),
        element.closest('.plot-box')?.clientWidth ?? 0,
      ]);
    await expect.poll(async () => new Set(await widths()).size).toBe(1);
  });

  it('include the tokens and costs of a workspace when the session has its key', async () => {
    const traces = tracesOf(server.url);
    const start = Date.now() - 120_000;
    await traces.client.traces.create({
      id: randomUUID(),
      name: 'a model',
      run_type: 'llm',
      start_time: new Date(start).toISOString(),
      end_time: new Date(start + 1_000).toISOString(),
      outputs: {
        usage_metadata: { input_tokens: 1_200, output_tokens: 300, total_tokens: 1_500, total_cost: 0.25 },
      },
    });
    const page = await console.open('/', { url: server.url, expected: /503/ });
    await figure(page, 'Ended runs').waitFor();
    await expect.poll(() => figure(page, 'Tokens of the workspace').count()).toBe(0);
    await page.getByRole('button', { name: 'Enter the key…' }).click();
    await enterKey(page);
    const tokens = figure(page, 'Tokens of the workspace');
    await tokens.getByText('Show as a table').click();
    await expect.poll(() => countedRows(page, 'Tokens of the workspace', 1)).toEqual(['1.2K']);
    // A minute for each of the plots of runs, and the head of the table.
    await expect.poll(() => tokens.getByRole('row').count()).toBe(61);
    expect(await countedRows(page, 'Tokens of the workspace', 2)).toEqual(['300']);
    await figure(page, 'Cost of the workspace').getByText('Show as a table').click();
    await expect
      .poll(async () =>
        (await countedRows(page, 'Cost of the workspace', 1)).filter((cost) => cost !== '$0.00'),
      )
      .toEqual(['$0.25']);
    expect(await seriousFindings(page)).toEqual([]);
    await page.route('**/runs/stats/series', (route) =>
      route.fulfill({ status: 503, json: { code: 'unavailable', message: 'The sum takes too long' } }),
    );
    await page.reload();
    await page.getByText('The sum takes too long').waitFor();
    await figure(page, 'Ended runs').locator('canvas').waitFor();
  });

  it('say from when on they count where there are too many runs', async () => {
    await run(createClient({ apiUrl: server.url }), 'agent', says('hello'));
    const page = await open();
    await page.route('**/runs/figures', async (route) => {
      const response = await route.fetch();
      const figures = (await response.json()) as object;
      await route.fulfill({
        response,
        json: { ...figures, complete: false, since: new Date().toISOString() },
      });
    });
    await page.reload();
    await page
      .getByText(/^There are more runs than the server counts at once: the figures begin at /)
      .waitFor();
    await figure(page, 'Ended runs').locator('canvas').waitFor();
  });

  it('report a server without a worker', async () => {
    const page = await console.open('/', { url: server.url, expected: /503/ });
    await page.route('**/ready', (route) =>
      route.fulfill({ status: 503, json: { code: 'unavailable', message: 'There is no live worker' } }),
    );
    await page.reload();
    await page.getByText('The server cannot execute runs now').waitFor();
    await page.getByText('There is no live worker').waitFor();
  });
});
