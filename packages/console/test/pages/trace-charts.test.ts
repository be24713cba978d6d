// The charts of traces.
import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole, type Page } from '../browser.ts';
import { enterKey, tracesOf } from '../traces.ts';

const chart = (page: Page, title: string) => page.getByRole('figure', { name: title, exact: true });

/** The cells of the only row of a chart that has a figure, without its time. */
const figures = async (page: Page, title: string): Promise<string[]> => {
  const box = chart(page, title);
  if (!(await box.getByRole('table').isVisible())) await box.getByText('Show as a table').click();
  await box.getByRole('row').nth(1).waitFor();
  const rows = await box
    .getByRole('row')
    .evaluateAll((all) =>
      all.slice(1).map((row) => [...row.querySelectorAll('td')].map(({ textContent: text }) => text ?? '')),
    );
  const counted = rows.filter((cells) => cells.some((cell) => !['0', '–', '$0.00'].includes(cell)));
  expect(counted).toHaveLength(1);
  return counted[0] ?? [];
};

describeInBrowser('the charts of traces', () => {
  const console = useConsole();
  const minuteMs = 60_000;
  /** The start of a minute that is over. */
  const minute = (ago: number): number => (Math.floor(Date.now() / minuteMs) - ago) * minuteMs;

  it('count and time traces, add up what their models used, and lead to the traces of an interval', async () => {
    const traces = tracesOf(console.url);
    const startMs = minute(5);
    await traces.sendCalls('charted', [
      { startMs: startMs + 1_000, ms: 2_000, promptTokens: 1_000 },
      { startMs: startMs + 2_000, ms: 2_000, promptTokens: 500 },
      { startMs: startMs + 3_000, ms: 2_000, promptTokens: 500, error: 'no' },
    ]);
    const [project] = await traces.client.projects.list({ name: 'charted' });
    const page = await console.open(`/traces?project=${project?.id}`);
    await enterKey(page);
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    await page.getByRole('tab', { name: 'Charts' }).click();
    await page.waitForURL(/view=charts/);
    await chart(page, 'Traces').locator('canvas').waitFor();
    expect(await figures(page, 'Traces')).toEqual(['2', '1']);
    expect(await figures(page, 'Latency of traces')).toEqual(['2.0 s', '2.0 s']);
    expect(await figures(page, 'Time to the first token')).toEqual(['500 ms', '500 ms']);
    expect(await figures(page, 'Tokens')).toEqual(['2K', '30']);
    expect(await figures(page, 'Cost')).toEqual(['$0.002', '$0.0015']);
    expect(await seriousFindings(page)).toEqual([]);

    const row = chart(page, 'Traces')
      .getByRole('row')
      .filter({ has: page.locator('td', { hasText: /^2$/ }) });
    await row.getByRole('button').click();
    await page.waitForURL(/from=/);
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('from'), searchParams.get('view')]).toEqual([
      new Date(startMs).toISOString(),
      null,
    ]);
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    const started = page.getByLabel('Started', { exact: true });
    await expect.poll(() => started.locator('option').first().innerText()).toMatch(/\d\d:\d\d–\d\d:\d\d$/);
    await page.reload();
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    await page.goBack();
    await chart(page, 'Traces').locator('canvas').waitFor();
    await chart(page, 'Tokens')
      .locator('.u-over')
      .click({ position: { x: 4, y: 20 } });
    await page.getByRole('heading', { name: 'No trace matches the filter' }).waitFor();
    await started.selectOption('Last 1h');
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
  });

  it('use the filter of the list, and show its errors at the field', async () => {
    const traces = tracesOf(console.url);
    const startMs = minute(3);
    await traces.sendCalls('chart filter', [
      { startMs, ms: 1_000, promptTokens: 100 },
      { startMs, ms: 3_000, promptTokens: 200, error: 'no' },
    ]);
    const [project] = await traces.client.projects.list({ name: 'chart filter' });
    const page = await console.open(`/traces?view=charts&project=${project?.id}&since=15m`, {
      expected: /422/,
    });
    await page.getByRole('heading', { name: 'Traces need an API key' }).waitFor();
    await enterKey(page);
    expect(await figures(page, 'Traces')).toEqual(['1', '1']);
    await expect.poll(() => chart(page, 'Traces').getByRole('row').count()).toBe(61);
    const filter = page.getByLabel('Filter', { exact: true });
    await filter.fill('gt(latency, "2s")');
    await page.keyboard.press('Enter');
    await expect.poll(() => figures(page, 'Traces')).toEqual(['0', '1']);
    // The tokens of the whole traces that match.
    expect(await figures(page, 'Tokens')).toEqual(['200', '10']);
    await page.getByRole('button', { name: 'all trace runs' }).click();
    await expect.poll(() => figures(page, 'Trace runs')).toEqual(['0', '2']);
    await filter.fill('gt(name, 5)');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'gt() cannot be used with name' }).waitFor();
    await filter.fill('eq(name, "nothing")');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No trace matches the filter' }).waitFor();
    await page.getByRole('link', { name: 'Clear the filter' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('?view=charts');
    await chart(page, 'Traces').locator('canvas').waitFor();
  });

  it('say that no trace started in the time, and what the server answers when they cannot be read', async () => {
    const range = 'from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z';
    const page = await console.open(`/traces?view=charts&${range}`, { expected: /503/ });
    await enterKey(page);
    await page.getByRole('heading', { name: 'No trace started in this time' }).waitFor();
    await page.route('**/runs/stats/series', (route) =>
      route.fulfill({ status: 503, json: { code: 'unavailable', message: 'The sum takes too long' } }),
    );
    await page.reload();
    await page.getByText('The sum takes too long').waitFor();
    await page.unroute('**/runs/stats/series');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'No trace started in this time' }).waitFor();
    // A range without a time in it is no filter.
    await page.goto(page.url().replace('to=2020', 'to=2019'));
    await page.getByLabel('Filter', { exact: true }).waitFor();
    await expect.poll(() => page.getByLabel('Started', { exact: true }).inputValue()).toBe('1h');
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  });
});
