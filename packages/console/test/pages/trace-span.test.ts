// The panel of a span: its messages, its tools, and feedback.
import { randomUUID } from 'node:crypto';
import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole, type Page } from '../browser.ts';
import { run, says } from '../conversations.ts';
import { enterKey, tracesOf } from '../traces.ts';

const panel = (page: Page) => page.getByRole('region', { name: 'Selected span' });
const messages = (page: Page, side: string) =>
  panel(page).getByRole('log', { name: `Messages of the ${side}` });
/** A line of a JSON tree. */
const line = (within: Locator, key: string, value: string) =>
  within.getByRole('listitem').filter({ hasText: new RegExp(`^${key}${value}$`) });
const span = (page: Page, name: RegExp) => page.getByRole('treeitem', { name }).first();

describeInBrowser('the inputs and outputs of a span', () => {
  const console = useConsole();

  it('are messages with their calls of tools, or JSON on request, which stays from span to span', async () => {
    const { runId } = await run(console.client, 'agent', says('Add 3 and 4'));
    await tracesOf(console.url).eventually(runId);
    const page = await console.open(`/traces/${runId}`);
    await enterKey(page);
    await messages(page, 'inputs').getByText('Add 3 and 4').waitFor();
    const call = messages(page, 'outputs').getByRole('button', { name: /add/ });
    await call.click();
    await messages(page, 'outputs').getByRole('heading', { name: 'Arguments' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);

    await span(page, / llm/).click();
    await messages(page, 'inputs').getByText('Add 3 and 4').waitFor();
    await messages(page, 'outputs').getByRole('button', { name: /add/ }).waitFor();
    await panel(page).getByRole('button', { name: 'JSON' }).click();
    await panel(page)
      .getByRole('button', { name: /^generations/ })
      .waitFor();
    await expect.poll(() => messages(page, 'outputs').count()).toBe(0);
    await page.waitForURL(/payload=json/);

    await span(page, / tool/).click();
    await panel(page).getByRole('button', { name: 'JSON', pressed: true }).waitFor();
    await line(panel(page), 'content', '7').waitFor();
    await page.reload();
    await line(panel(page), 'content', '7').waitFor();
    await panel(page).getByRole('button', { name: 'Rendered' }).click();
    // The arguments, and the result as a text.
    await line(panel(page), '1', '4').waitFor();
    await panel(page).getByText('7', { exact: true }).waitFor();
    await expect.poll(() => line(panel(page), 'content', '7').count()).toBe(0);
  });

  it('have the tokens and the cost of the spans below', async () => {
    const traces = tracesOf(console.url);
    const call = { startMs: Date.now() - 60_000, ms: 900, promptTokens: 990 };
    const [traceId = ''] = await traces.sendCalls('sums', [call]);
    const page = await console.open(`/traces/${traceId}`);
    await enterKey(page);
    for (const name of [/question to sums/, /model/]) {
      await span(page, name).getByText('1,000').waitFor();
      await span(page, name).getByText('$0.0015').waitFor();
    }
    await panel(page)
      .getByText(/^1,000/)
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('stay JSON where they have no messages, and show the newest of many messages', async () => {
    const traces = tracesOf(console.url);
    const id = randomUUID();
    const time = new Date().toISOString();
    const talk = Array.from({ length: 120 }, (_, index) => ({
      type: index % 2 === 0 ? 'human' : 'ai',
      content: `message ${index}`,
    }));
    await traces.client.traces.create({
      id,
      name: 'long talk',
      run_type: 'chain',
      session_name: 'talks',
      start_time: time,
      end_time: time,
      inputs: { messages: [talk], topic: 'the weather' },
      outputs: { answer: 42 },
    });
    const page = await console.open(`/traces/${id}`);
    await enterKey(page);
    await messages(page, 'inputs').getByText('message 119').waitFor();
    const shown = messages(page, 'inputs').getByRole('article');
    await expect.poll(() => shown.count()).toBe(50);
    await messages(page, 'inputs').getByRole('button', { name: '70 earlier messages' }).click();
    await expect.poll(() => shown.count()).toBe(100);
    await line(panel(page), 'topic', 'the weather').waitFor();
    await line(panel(page), 'answer', '42').waitFor();
    await expect.poll(() => messages(page, 'outputs').count()).toBe(0);
  });

  it('have a bar in the time line also where the span is the last millisecond of its trace', async () => {
    const traces = tracesOf(console.url);
    const [id, startMs] = [randomUUID(), Date.now() - 120_000];
    const at = (ms: number): string => new Date(startMs + ms).toISOString();
    const common = { trace_id: id, session_name: 'bars', run_type: 'chain' };
    const last = { ...common, id: randomUUID(), parent_run_id: id, name: 'last' };
    await traces.client.traces.send({
      post: [
        { ...common, id, name: 'whole', start_time: at(0), end_time: at(60_000) },
        { ...last, start_time: at(60_000), end_time: at(60_000) },
      ],
    });
    const page = await console.open(`/traces/${id}`);
    await enterKey(page);
    const row = span(page, /^last /);
    await row.waitFor();
    const [track, bar] = await Promise.all([
      row.locator('.span-time').boundingBox(),
      row.locator('.span-bar').boundingBox(),
    ]);
    expect(bar?.width).toBeGreaterThanOrEqual(2);
    expect((bar?.x ?? 0) + (bar?.width ?? 0)).toBeLessThanOrEqual(
      (track?.x ?? 0) + (track?.width ?? 0) + 0.1,
    );
  });
});

describeInBrowser('feedback on a span', () => {
  const console = useConsole();

  it('is listed and added by a key that may write', async () => {
    const traces = tracesOf(console.url);
    const traceId = await traces.send('judged', 1);
    await traces.client.traces.addFeedback({
      run_id: traceId,
      key: 'kind',
      score: 0.25,
      value: { label: 'rude' },
      comment: 'not <b>kind</b>\u202E',
    });
    const page = await console.open(`/traces/${traceId}`);
    await enterKey(page);
    const feedback = panel(page).getByRole('region', { name: 'Feedback' });
    const first = feedback.getByRole('listitem').filter({ hasText: 'kind' }).first();
    for (const text of ['0.25', 'rude', 'not <b>kind</b>‹U+202E›', 'api']) {
      await first.getByText(text).first().waitFor();
    }

    await feedback.getByRole('button', { name: 'Add feedback' }).click();
    const form = feedback.getByRole('form', { name: 'New feedback' });
    await expect
      .poll(() => form.getByLabel('Key').evaluate((field) => field === document.activeElement))
      .toBe(true);
    await form.getByLabel('Score').fill('often');
    await page.keyboard.press('Enter');
    await form.getByText('Name what the feedback is about.').waitFor();
    await form.getByText('The score must be a number, such as 1 or 0.5.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await form.getByLabel('Key').fill('correct');
    await form.getByLabel('Score').fill('1');
    await form.getByLabel('Comment').fill('as in the book');
    await page.keyboard.press('Control+Enter');
    await feedback.getByText('Feedback correct is stored.').waitFor();
    const added = feedback.getByRole('listitem').filter({ hasText: 'as in the book' });
    await added.getByText('app').waitFor();
    const [stored] = await traces.client.traces.feedback({ run: [traceId], key: ['correct'] });
    expect(stored).toMatchObject({ score: 1, comment: 'as in the book', feedback_source: { type: 'app' } });

    // Another span has its own.
    await span(page, /^tool 1 /).click();
    await feedback.getByText('none').waitFor();
  });

  it('cannot be added by a viewer, who sees why', async () => {
    const traces = tracesOf(console.url);
    const traceId = await traces.send('looked at', 1);
    const viewer = await traces.client.keys.create({ role: 'viewer' });
    const page = await console.open(`/traces/${traceId}`);
    await enterKey(page, viewer.key);
    const feedback = panel(page).getByRole('region', { name: 'Feedback' });
    await feedback.getByText('This needs a key with the role editor or admin; yours is viewer').waitFor();
    await expect.poll(() => feedback.getByRole('button').count()).toBe(0);
  });

  it('keeps what was entered when the server refuses it', async () => {
    const traces = tracesOf(console.url);
    const traceId = await traces.send('refused', 1);
    const page = await console.open(`/traces/${traceId}`, { expected: /422/ });
    await enterKey(page);
    const feedback = panel(page).getByRole('region', { name: 'Feedback' });
    await feedback.getByRole('button', { name: 'Add feedback' }).click();
    await feedback.getByLabel('Key').fill('k'.repeat(300));
    await feedback.getByLabel('Score').fill('1');
    await feedback.getByRole('button', { name: 'Save the feedback' }).click();
    await feedback.getByRole('alert').waitFor();
    await expect.poll(() => feedback.getByLabel('Score').inputValue()).toBe('1');
    await feedback.getByRole('button', { name: 'Cancel' }).click();
    await feedback.getByRole('button', { name: 'Add feedback' }).waitFor();
  });
});
