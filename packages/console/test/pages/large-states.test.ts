import { expect, it } from 'vitest';
import { describeInBrowser, useConsole, type Page } from '../browser.ts';

/** The size of the largest answer about a state. */
const largestState = (page: Page): (() => number) => {
  let largest = 0;
  page.on('response', (response) => {
    if (!new URL(response.url()).pathname.includes('/state')) return;
    largest = Math.max(largest, Number(response.headers()['content-length'] ?? Number.POSITIVE_INFINITY));
  });
  return () => largest;
};

const megabyte = 1_048_576;
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({ row: from + index, text: 'word '.repeat(20) }));

describeInBrowser('a large state', () => {
  const console = useConsole();

  /** Creates a thread and updates its state, with one checkpoint for each update. */
  const threadOf = async (...updates: { values: Record<string, unknown>; asNode?: string }[]) => {
    const { thread_id } = await console.client.threads.create({ graphId: 'patient' });
    for (const update of updates)
      await console.client.threads.updateState(thread_id, { asNode: 'prepare', ...update });
    return thread_id;
  };

  it('of a long list is read in parts', async () => {
    const id = await threadOf({ values: { plan: rows(0, 20_000) } });
    const page = await console.open('/threads');
    const largest = largestState(page);
    await page.goto(`${console.url}/console/threads/${id}`);
    await page.getByRole('button', { name: '19900 more' }).click();
    await page.getByRole('button', { name: '19800 more' }).waitFor();
    await page.getByRole('button', { name: /^199: / }).waitFor();
    expect(largest()).toBeLessThan(1.1 * megabyte);
  });

  it('of a long text continues where it is cut', async () => {
    const id = await threadOf({ values: { plan: `${'word '.repeat(20_000)}the end` } });
    const page = await console.open(`/threads/${id}?tab=checkpoints&view=values`);
    await page.getByRole('button', { name: /more characters/ }).click();
    await page.getByRole('button', { name: /^\d+ more characters/ }).click();
    await page.getByText(/the end$/).waitFor();
  });

  it('of a long conversation shows the newest messages, and earlier ones on request', async () => {
    const messages = Array.from({ length: 1_000 }, (_, index) => ({
      role: 'user',
      content: `message ${index} ${'and more '.repeat(20)}`,
    }));
    const id = await threadOf({ values: { messages } });
    const page = await console.open(`/threads/${id}`);
    await page.getByText('message 999 ').waitFor();
    await page.getByText('message 950 ').waitFor();
    await expect.poll(() => page.getByText('message 949 ').count()).toBe(0);
    await page.getByRole('button', { name: '950 earlier messages' }).click();
    await page.getByText('message 900 ').waitFor();
    await page.getByRole('button', { name: '900 earlier messages' }).waitFor();
  });

  it('of long messages shows the newest ones, and earlier ones on request', async () => {
    const messages = Array.from({ length: 120 }, (_, index) => ({
      role: 'user',
      content: `message ${index} ${'x'.repeat(30_000)}`,
    }));
    const id = await threadOf({ values: { messages } });
    const page = await console.open(`/threads/${id}`);
    for (const index of [119, 100, 70]) await page.getByText(`message ${index} `).waitFor();
    await page.getByRole('button', { name: '70 earlier messages' }).click();
    for (const index of [69, 20]) await page.getByText(`message ${index} `).waitFor();
  });

  it('of a long list that is no conversation shows its values', async () => {
    const documents = Array.from({ length: 10 }, (_, index) => `document ${index} ${'x'.repeat(70_000)}`);
    const id = await threadOf({ values: { plan: documents } });
    const page = await console.open(`/threads/${id}`);
    await page.getByText('document 9 ').waitFor();
    await expect.poll(() => page.getByText('plan', { exact: true }).count()).toBe(1);
    await expect.poll(() => page.getByRole('log', { name: 'Conversation' }).count()).toBe(0);
  });

  it('shows which of its lists have grown, and what was added', async () => {
    const id = await threadOf(
      { values: { plan: rows(0, 2_000), messages: [{ role: 'user', content: 'hello' }] } },
      { values: { plan: rows(0, 2_002) } },
    );
    const page = await console.open(`/threads/${id}?tab=checkpoints`);
    await page.getByRole('region', { name: 'changed plan' }).waitFor();
    const added = page.getByRole('region', { name: 'added plan[2000] to [2001]' });
    await added.getByText('2000').first().waitFor();
    await added.getByRole('button', { name: /^2001: / }).waitFor();
    await expect.poll(() => page.getByRole('region', { name: /messages/ }).count()).toBe(0);
  });
});
