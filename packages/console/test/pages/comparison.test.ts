// Two assistants side by side in the playground.
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { closedGate, run, says } from '../conversations.ts';
import { describeInBrowser, seriousFindings, useConsole, type Page } from '../browser.ts';
import { enterKey, tracesOf } from '../traces.ts';

type Side = 'Left' | 'Right';

const column = (page: Page, side: Side) => page.getByRole('region', { name: new RegExp(`^${side}: `) });

const badge = (page: Page, side: Side, status: string) =>
  column(page, side).locator('.badge', { hasText: status });

const send = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
};

const choose = (page: Page, side: Side, name: string): Promise<unknown> =>
  column(page, side)
    .getByLabel(`${side} assistant`, { exact: true })
    .selectOption({ label: `${name} v1` });

const inAddress = (page: Page, name: string): string | null => new URL(page.url()).searchParams.get(name);

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

describeInBrowser('a comparison of two assistants', () => {
  const console = useConsole();

  it('streams one input to both, each on a thread of its own, and shows how long they took', async () => {
    await using gate = closedGate();
    const page = await console.open('/playground?assistant=patient');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('region', { name: 'Graph' }).waitFor({ state: 'detached' });
    await send(page, `one two ${gate.word} three`);
    for (const side of ['Left', 'Right'] as const) {
      await column(page, side).getByText('one two', { exact: true }).waitFor();
      await column(page, side).getByText('First token').waitFor();
      await column(page, side).getByRole('button', { name: 'Stop' }).waitFor();
    }
    await expect.poll(() => page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await gate.open();
    for (const side of ['Left', 'Right'] as const) {
      await badge(page, side, 'success').waitFor();
      await expect
        .poll(() => column(page, side).getByText(`one two ${gate.word} three`, { exact: true }).count())
        .toBe(2);
      await column(page, side).getByText('Took').waitFor();
    }
    const [left, right] = [inAddress(page, 'thread') ?? '', inAddress(page, 'compareThread') ?? ''];
    expect(left).not.toBe(right);
    for (const [thread, name] of [
      [left, 'run'],
      [right, 'compareRun'],
    ] as const)
      expect((await console.client.runs.list(thread)).map(({ run_id: id }) => id)).toEqual([
        inAddress(page, name),
      ]);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('continues both streams after a reload', async () => {
    await using gate = closedGate();
    const page = await console.open('/playground?assistant=patient&compare=patient');
    const words = `one two ${gate.word} three four`;
    await send(page, words);
    await page.waitForURL((url) => ['run', 'compareRun'].every((name) => url.searchParams.has(name)));
    await page.reload();
    for (const side of ['Left', 'Right'] as const) {
      await badge(page, side, 'running').waitFor();
      await column(page, side).getByText('one two', { exact: true }).waitFor();
    }
    await gate.open();
    for (const side of ['Left', 'Right'] as const) {
      await badge(page, side, 'success').waitFor();
      await expect.poll(() => column(page, side).getByText(words, { exact: true }).count()).toBe(2);
    }
  });

  it('stops one run and leaves the other', async () => {
    await using gate = closedGate();
    const page = await console.open('/playground?assistant=patient&compare=patient');
    await send(page, `one two ${gate.word} three`);
    for (const side of ['Left', 'Right'] as const)
      await column(page, side).getByText('one two', { exact: true }).waitFor();
    await column(page, 'Left').getByRole('button', { name: 'Stop' }).click();
    await badge(page, 'Left', 'cancelled').waitFor();
    await badge(page, 'Right', 'running').waitFor();
    await gate.open();
    await badge(page, 'Right', 'success').waitFor();
    await badge(page, 'Left', 'cancelled').waitFor();
  });

  it('shows the questions of both, and answers one of them', async () => {
    const page = await console.open('/playground?assistant=approval&compare=approval');
    await page.getByLabel('topic').fill('tea');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    for (const side of ['Left', 'Right'] as const)
      await column(page, side).getByRole('heading', { name: 'Send this?' }).waitFor();
    await page.getByText('2 open questions above.').waitFor();
    await column(page, 'Right').getByRole('button', { name: '{ "approve": true }' }).click();
    await column(page, 'Right').getByRole('button', { name: 'Send answer' }).click();
    await column(page, 'Right').getByRole('definition').filter({ hasText: 'sent' }).waitFor();
    await column(page, 'Left').getByRole('heading', { name: 'Send this?' }).waitFor();
    await page.getByText('1 open question above.').waitFor();
  });

  it('says what the input schema of the second lacks, and shows the error of one column only', async () => {
    const page = await console.open('/playground?assistant=agent&compare=agent');
    await choose(page, 'Right', 'approval');
    await column(page, 'Right').getByText('does not have: messages.').waitFor();
    await choose(page, 'Right', 'patient');
    await column(page, 'Right').getByText('does not have').waitFor({ state: 'detached' });
    await send(page, 'fail');
    const alert = (side: Side) => column(page, side).getByRole('alert');
    await alert('Right').filter({ hasText: 'TypeError: The plan has no first step.' }).waitFor();
    await column(page, 'Left').getByText('You said: fail.').waitFor();
    await expect.poll(() => alert('Left').count()).toBe(0);
  });

  it('sends the settings to both', async () => {
    const page = await console.open('/playground?assistant=agent&compare=agent');
    await page.getByText('Config of both').click();
    await page.getByLabel('Stop before these nodes').fill('tools');
    await send(page, 'Weather in Zurich?');
    for (const side of ['Left', 'Right'] as const)
      await column(page, side).getByText('Stopped before tools.').waitFor();
  });

  it('begins without the settings of an assistant that is not shown', async () => {
    const page = await console.open('/playground?assistant=patient');
    const stop = page.getByLabel('Stop before these nodes');
    await stop.fill('tools');
    await page.getByLabel('Assistant', { exact: true }).selectOption({ label: 'agent v1' });
    await expect.poll(() => stop.inputValue()).toBe('');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByText('Config of both').click();
    await expect.poll(() => stop.inputValue()).toBe('');
    await send(page, 'Weather in Zurich?');
    for (const side of ['Left', 'Right'] as const)
      await column(page, side).getByText('The weather: fog in the morning, 9 °C.').waitFor();
  });

  it('begins with the settings of the assistant that is shown', async () => {
    const page = await console.open('/playground?assistant=agent');
    await page.getByLabel('Stop before these nodes').fill('tools');
    await page.getByRole('button', { name: 'Compare' }).click();
    await choose(page, 'Left', 'patient');
    await choose(page, 'Left', 'agent');
    await send(page, 'Weather in Zurich?');
    for (const side of ['Left', 'Right'] as const)
      await column(page, side).getByText('Stopped before tools.').waitFor();
  });

  it('shows in a column the branch of a run that started at a checkpoint', async () => {
    await using gate = closedGate();
    const left = await run(console.client, 'patient', says('a text of the left'));
    const { threadId } = await run(console.client, 'patient', says('an older text'));
    await console.client.runs.wait(threadId, 'patient', { input: says('a newer text') });
    const history = await console.client.threads.getHistory(threadId, { limit: 100 });
    const words = `one two ${gate.word} three`;
    const forked = await console.client.runs.create(threadId, 'patient', {
      input: says(words),
      checkpoint_id: history.at(-1)?.checkpoint_id ?? '',
      stream_mode: ['messages-tuple', 'updates', 'tasks'],
      stream_resumable: true,
    });
    const page = await console.open(
      `/playground?assistant=patient&thread=${left.threadId}&run=${left.runId}` +
        `&compare=patient&compareThread=${threadId}&compareRun=${forked.run_id}`,
    );
    const right = column(page, 'Right');
    await right.getByText('one two', { exact: true }).waitFor();
    await right.getByText(words, { exact: true }).waitFor();
    await expect.poll(() => right.getByText(/older|newer/).count()).toBe(0);
    await gate.open();
    await badge(page, 'Right', 'success').waitFor();
    await expect.poll(() => right.getByText(words, { exact: true }).count()).toBe(2);
    await expect.poll(() => right.getByText(/older|newer/).count()).toBe(0);
    await right.getByText('Started at a checkpoint.').waitFor();
    await expect.poll(() => column(page, 'Left').getByText('Started at a checkpoint.').count()).toBe(0);
    await expect
      .poll(() => column(page, 'Left').getByText('a text of the left', { exact: true }).count())
      .toBe(2);
  });

  it('shows the tokens of messages that have them', async () => {
    const { threadId } = await run(console.client, 'agent', says('hello'));
    const usage_metadata = {
      input_tokens: 1_200,
      output_tokens: 34,
      total_tokens: 1_234,
      total_cost: 0.0125,
    };
    await console.client.threads.updateState(threadId, {
      values: { messages: [{ type: 'ai', content: 'counted', usage_metadata }] },
    });
    const page = await console.open(`/playground?assistant=agent&thread=${threadId}&compare=agent`);
    await column(page, 'Left').getByText('1,200 → 34').waitFor();
    await column(page, 'Left').getByText('$0.0125').waitFor();
    await expect.poll(() => column(page, 'Right').getByText('Tokens').count()).toBe(0);
  });

  it('shows the cost of the trace to a session with an API key', async () => {
    const { threadId, runId } = await run(console.client, 'agent', says('hello'));
    const traces = tracesOf(console.url);
    await traces.eventually(runId);
    const time = new Date().toISOString();
    await traces.client.traces.send({
      post: [
        {
          id: randomUUID(),
          trace_id: runId,
          parent_run_id: runId,
          name: 'model',
          run_type: 'llm',
          start_time: time,
          end_time: time,
          outputs: {
            usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3, total_cost: 0.25 },
          },
        },
      ],
    });
    const address = `/playground?assistant=agent&thread=${threadId}&run=${runId}&compare=agent`;
    const page = await console.open(address);
    await column(page, 'Left').getByText('Took').waitFor();
    await expect.poll(() => column(page, 'Left').getByText('Cost').count()).toBe(0);
    await page.goto(`${console.url}/console/keys`);
    await enterKey(page);
    await page.getByRole('button', { name: 'New key…' }).waitFor();
    await page.goto(`${console.url}/console${address}`);
    await column(page, 'Left').getByText('$0.2500').waitFor();
  });

  it('ends with the column that is kept', async () => {
    const page = await console.open('/playground?assistant=agent&compare=patient');
    await send(page, 'good morning');
    await column(page, 'Left').getByText('You said: good morning.').waitFor();
    await badge(page, 'Right', 'success').waitFor();
    await badge(page, 'Left', 'success').waitFor();
    const kept = inAddress(page, 'compareThread');
    await page.getByRole('button', { name: 'Remove the left assistant' }).click();
    await page.getByRole('region', { name: 'Graph' }).waitFor();
    await expect.poll(() => page.getByText('You said: good morning.').count()).toBe(0);
    await expect.poll(() => page.getByText('good morning', { exact: true }).count()).toBe(2);
    expect([inAddress(page, 'thread'), inAddress(page, 'compare')]).toEqual([kept, null]);
    await expect
      .poll(() => page.getByLabel('Assistant', { exact: true }).locator('option:checked').innerText())
      .toBe('patient v1');
    await page.goBack();
    await column(page, 'Left').getByText('You said: good morning.').waitFor();
    await page.getByRole('button', { name: 'Remove the right assistant' }).click();
    await page.getByRole('region', { name: 'Graph' }).waitFor();
    await page.getByText('You said: good morning.').waitFor();
  });

  it('has a tab for each column on a narrow screen', async () => {
    const page = await console.open('/playground?assistant=agent&compare=patient', {
      viewport: { width: 390, height: 800 },
    });
    await send(page, 'good morning');
    await column(page, 'Left').getByText('You said: good morning.').waitFor();
    expect(await overflow(page)).toBe(0);
    await expect.poll(() => column(page, 'Right').count()).toBe(0);
    await page.getByRole('tab', { name: /^Right: patient/ }).click();
    await badge(page, 'Right', 'success').waitFor();
    await column(page, 'Right').getByText('good morning', { exact: true }).first().waitFor();
    await expect.poll(() => column(page, 'Left').count()).toBe(0);
    expect(await overflow(page)).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
  });
});
