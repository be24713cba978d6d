// Threads of traces.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole } from '../browser.ts';
import { run, says } from '../conversations.ts';
import { startServerProcess } from '../serve.ts';
import { enterKey, tracesOf, type Traces } from '../traces.ts';

interface Turn {
  thread: string;
  question: string;
  answer: string;
  agoMs: number;
  error?: string;
}

/** Sends a trace of one second for each turn. Returns the ids of the traces. */
const sendTurns = async (traces: Traces, project: string, turns: readonly Turn[]): Promise<string[]> => {
  const post = turns.map(({ thread, question, answer, agoMs, error }) => ({
    id: randomUUID(),
    name: `turn of ${project}`,
    run_type: 'llm',
    session_name: project,
    start_time: new Date(Date.now() - agoMs).toISOString(),
    end_time: new Date(Date.now() - agoMs + 1_000).toISOString(),
    inputs: { messages: [{ type: 'human', content: question }] },
    outputs: {
      messages: [{ type: 'ai', content: answer }],
      usage_metadata: { input_tokens: 90, output_tokens: 10, total_tokens: 100 },
    },
    extra: { metadata: { thread_id: thread } },
    ...(error === undefined ? {} : { error }),
  }));
  await traces.client.traces.send({ post });
  return post.map(({ id }) => id);
};

describeInBrowser('the threads of traces', () => {
  const console = useConsole();

  it('are listed with their figures, and lead to their traces in order', async () => {
    const traces = tracesOf(console.url);
    const odd = 'customers/7 "north"';
    const [first, second] = await sendTurns(traces, 'talks', [
      { thread: odd, question: 'What is snow?', answer: 'Frozen water', agoMs: 60_000 },
      { thread: odd, question: 'Why?', answer: 'It is cold', agoMs: 50_000, error: 'RateLimitError: 429' },
      { thread: randomUUID(), question: 'And hail?', answer: 'Ice', agoMs: 90_000 },
    ]);
    const [project] = await traces.client.projects.list({ name: 'talks' });
    const page = await console.open(`/traces?project=${project?.id}`, { expected: /422/ });
    await enterKey(page);
    await page.getByRole('tab', { name: 'Threads' }).click();
    await page.waitForURL(/view=threads/);
    const rows = page.getByRole('row');
    await expect.poll(() => rows.count()).toBe(3);
    // The newest is first.
    const row = rows.nth(1);
    for (const text of [odd, 'What is snow?', '→ It is cold', '2, 1 failed', '200'])
      await expect.poll(() => row.innerText()).toContain(text);
    expect(await seriousFindings(page)).toEqual([]);

    await page.getByLabel('Filter', { exact: true }).fill('gt(name, 5)');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'gt() cannot be used with name' }).waitFor();
    await page.getByLabel('Filter', { exact: true }).fill('search("hail")');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel('Filter', { exact: true }).fill('');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows.count()).toBe(3);

    await page.getByLabel('Filter', { exact: true }).blur();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Traces of a thread' }).waitFor();
    expect(new URL(page.url()).searchParams.get('thread')).toBe(odd);
    const links = page.getByRole('link', { name: /^Trace run turn of talks/ });
    await expect.poll(() => links.count()).toBe(2);
    for (const [index, id] of [first, second].entries())
      await expect.poll(() => links.nth(index).getAttribute('href')).toContain(`/traces/${id}`);
    await page.getByText('2, 1 failed').waitFor();
    await page.getByText('RateLimitError: 429').first().waitFor();
    // The server has no thread with such an id.
    await expect.poll(() => page.getByRole('link', { name: 'Open the thread' }).count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await page.reload();
    await expect.poll(() => links.count()).toBe(2);

    await page.getByRole('link', { name: 'All trace runs of the thread' }).click();
    await page.waitForURL(/runs=all/);
    await expect.poll(() => rows.count()).toBe(3);
    await page.goBack();
    await links.first().click();
    await page.getByRole('link', { name: 'Traces of the thread' }).click();
    await expect.poll(() => links.count()).toBe(2);
    await page.getByRole('link', { name: 'All threads' }).click();
    await expect.poll(() => rows.count()).toBe(3);
  });

  it('of this server lead to its threads', async () => {
    const { threadId, runId } = await run(console.client, 'agent', says('Add 3 and 4'));
    const traces = tracesOf(console.url);
    await traces.eventually(runId);
    const { session_id: project } = await traces.client.traces.get(runId);
    const page = await console.open(`/traces?view=threads&project=${project}`);
    await enterKey(page);
    await page.getByRole('link', { name: `Thread ${threadId}` }).click();
    await page.getByRole('link', { name: 'Open the thread' }).click();
    await page.waitForURL(`**/threads/${threadId}`);
  });

  it('are those of one project, which is chosen where there are several', async () => {
    await using server = await startServerProcess();
    const traces = tracesOf(server.url);
    const page = await console.open('/traces?view=threads', { url: server.url });
    await enterKey(page);
    await page.getByRole('heading', { name: 'There are no traces yet' }).waitFor();
    const turn = { question: 'Hi', answer: 'Hello', agoMs: 5_000 };
    await sendTurns(traces, 'only', [{ ...turn, thread: 'a' }]);
    await page.reload();
    await page.getByRole('link', { name: 'Thread a' }).waitFor();
    await sendTurns(traces, 'another', [{ ...turn, thread: 'b' }]);
    await traces.send('without threads', 1);
    await page.reload();
    await page.getByRole('heading', { name: 'Threads of which project?' }).waitFor();
    await page.getByRole('link', { name: 'another' }).click();
    await page.getByRole('link', { name: 'Thread b' }).waitFor();
    await page.getByLabel('Started').selectOption('Last 15m');
    await page.getByLabel('Filter', { exact: true }).fill('eq(name, "nothing")');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No thread matches the filter' }).waitFor();
    await page.getByRole('link', { name: 'Clear the filter' }).click();
    await page.getByRole('link', { name: 'Thread b' }).waitFor();
    await page.getByLabel('Project').selectOption('without threads');
    await page.getByRole('heading', { name: 'The project has no threads' }).waitFor();
    await page.getByRole('tab', { name: 'List' }).click();
    await page.getByRole('cell', { name: 'agent of without threads' }).waitFor();
    // Before the server ends, because the page would report failed requests.
    await page.close();
  });
});
