import { expect, it } from 'vitest';
import { closedGate, run, says } from '../conversations.ts';
import { describeInBrowser, seriousFindings, useConsole, type Page } from '../browser.ts';

const badge = (page: Page, status: string) => page.locator('.badge', { hasText: status }).first();

const messagesOf = (state: { values: unknown }): { content: unknown }[] =>
  (state.values as { messages: { content: unknown }[] }).messages;

describeInBrowser('a checkpoint', () => {
  const console = useConsole();
  const { threads } = console.client;

  /** The oldest checkpoint after which only this node runs next. */
  const checkpointBefore = async (threadId: string, node: string): Promise<string> => {
    const history = await threads.getHistory(threadId, { limit: 100, select: ['checkpoint_id', 'next'] });
    return history.findLast(({ next }) => next.join() === node)?.checkpoint_id ?? '';
  };
  const openAt = async (
    threadId: string,
    checkpointId: string,
    options?: Parameters<typeof console.open>[1],
  ) => console.open(`/threads/${threadId}?tab=checkpoints&checkpoint=${checkpointId}`, options);

  it('is run again on a branch of its own, which streams in the playground', async () => {
    const { threadId } = await run(console.client, 'agent', says('Add 2 and 40'));
    const end = (await threads.getState(threadId)).checkpoint_id ?? '';
    const page = await openAt(threadId, end);
    const button = page.getByRole('button', { name: 'Run from here' });
    await page.getByText('next: no node, so there is nothing to run').waitFor();
    await expect.poll(() => button.isDisabled()).toBe(true);
    await page.getByRole('link', { name: /^1 ?agent/ }).click();
    await page.getByText('next: tools').waitFor();
    const from = new URL(page.url()).searchParams.get('checkpoint')!;
    await button.click();
    await page.waitForURL((url) => url.pathname.endsWith('/playground') && url.searchParams.has('run'));
    await badge(page, 'success').waitFor();
    await page.getByText('The sum is 42.').waitFor();
    await expect.poll(() => page.getByText('The sum is 42.').count()).toBe(1);
    await page.getByText('Started at a checkpoint.').waitFor();
    const { metadata } = await threads.getState(threadId);
    expect(metadata['run_id']).toBe(new URL(page.url()).searchParams.get('run'));
    await page.getByRole('link', { name: 'checkpoints of the thread' }).click();
    await page.getByRole('link', { name: /^2 ?fork/ }).waitFor();
    const history = await threads.getHistory(threadId, { limit: 100 });
    expect(history.filter(({ parent_checkpoint_id: parent }) => parent === from)).toHaveLength(2);
    expect(history.some(({ checkpoint_id: id }) => id === end)).toBe(true);
  });

  it('with an input has the name of its run, and the next one is the start', async () => {
    const { threadId, runId } = await run(console.client, 'patient', says('first'));
    let secondId = '';
    await console.client.runs.wait(
      threadId,
      'patient',
      { input: says('second') },
      { onRunCreated: (created) => (secondId = created.runId) },
    );
    const page = await console.open(`/threads/${threadId}?tab=checkpoints`);
    const names = page
      .getByRole('navigation', { name: 'Checkpoints, newest first' })
      .locator('.checkpoint-name');
    const inputOf = (id: string): string => `input of run ${id.slice(0, 8)}`;
    await expect
      .poll(() => names.allInnerTexts())
      .toEqual([secondId, runId].flatMap((id) => ['repeat', 'prepare', 'start', inputOf(id)]));
  });

  it('is run again with an edited state: a message replaces the one with its id', async () => {
    const { threadId } = await run(console.client, 'agent', says('Weather in Oslo?'));
    const page = await openAt(threadId, (await threads.getState(threadId)).checkpoint_id ?? '');
    await page.getByRole('link', { name: /^2 ?tools/ }).click();
    await page.getByRole('button', { name: 'Edit and run…' }).click();
    const field = page.getByLabel('Update of the state, as JSON');
    const update = JSON.parse(await field.inputValue()) as { messages: Record<string, unknown>[] };
    expect(update.messages.map(({ content }) => content)).toEqual(['snow, -3 °C']);
    await expect.poll(() => page.getByLabel('As node').inputValue()).toBe('tools');
    await expect.poll(() => page.getByRole('option', { name: 'agent' }).count()).toBe(1);
    expect(await seriousFindings(page)).toEqual([]);
    await field.fill(JSON.stringify({ messages: [{ ...update.messages[0], content: 'rain, 9 °C' }] }));
    await page.getByRole('button', { name: 'Fork and run' }).click();
    await page.waitForURL('**/playground?**');
    await page.getByText('The weather: rain, 9 °C.').waitFor();
    await badge(page, 'success').waitFor();
    expect(messagesOf(await threads.getState(threadId))).toHaveLength(4);
    await page.getByRole('link', { name: 'checkpoints of the thread' }).click();
    await page.getByRole('link', { name: /^3 ?update/ }).waitFor();
  });

  it('with an input is run again with an edited one, from the state before it', async () => {
    const { threadId } = await run(console.client, 'agent', says('Weather in Oslo?'));
    await console.client.runs.wait(threadId, 'agent', { input: says('Add 1 and 2') });
    const page = await openAt(threadId, await checkpointBefore(threadId, '__start__'));
    await page.getByRole('button', { name: 'Edit the input and run…' }).click();
    const field = page.getByLabel('Input, as JSON');
    expect(JSON.parse(await field.inputValue())).toEqual(says('Weather in Oslo?'));
    await field.fill(JSON.stringify(says('Weather in Lisbon?')));
    await page.keyboard.press('Control+Enter');
    await page.waitForURL('**/playground?**');
    await page.getByText('The weather: sunny, 24 °C.').waitFor();
    await badge(page, 'success').waitFor();
    expect(messagesOf(await threads.getState(threadId)).map(({ content }) => content)).toEqual([
      'Weather in Lisbon?',
      '',
      'sunny, 24 °C',
      'The weather: sunny, 24 °C.',
    ]);
    // The first input has no checkpoint before it; the second one starts after the first answer.
    const second = await threads.getHistory(threadId, { limit: 100 });
    const input = second.findLast(({ metadata }) => metadata['source'] === 'input' && metadata['step'] === 4);
    await page.goto(
      `${console.url}/console/threads/${threadId}?tab=checkpoints&checkpoint=${input?.checkpoint_id}`,
    );
    await page.getByRole('button', { name: 'Edit the input and run…' }).click();
    await page.getByLabel('Input, as JSON').fill(JSON.stringify(says('Add 3 and 4')));
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('The sum is 7.').waitFor();
    await badge(page, 'success').waitFor();
    expect(messagesOf(await threads.getState(threadId))).toHaveLength(8);
  });

  it('shows its own branch while the run streams', async () => {
    await using gate = closedGate();
    const { threadId } = await run(console.client, 'patient', says('an older text'));
    await console.client.runs.wait(threadId, 'patient', { input: says('a newer text') });
    const page = await openAt(threadId, await checkpointBefore(threadId, '__start__'));
    await page.getByRole('button', { name: 'Edit the input and run…' }).click();
    const words = `one two ${gate.word} three`;
    await page.getByLabel('Input, as JSON').fill(JSON.stringify(says(words)));
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const conversation = page.getByRole('log', { name: 'Conversation' });
    await conversation.getByText('one two', { exact: true }).waitFor();
    await conversation.getByText(words, { exact: true }).waitFor();
    await expect.poll(() => conversation.getByText(/older|newer/).count()).toBe(0);
    await gate.open();
    await badge(page, 'success').waitFor();
    await expect.poll(() => conversation.getByText(words, { exact: true }).count()).toBe(2);
  });

  it('shows no other branch while its state is read, and when it cannot be read', async () => {
    await using gate = closedGate();
    const { threadId } = await run(console.client, 'patient', says('an older text'));
    const from = (await threads.getState(threadId)).checkpoint_id ?? '';
    await console.client.runs.wait(threadId, 'patient', { input: says('a newer text') });
    const words = `one two ${gate.word} three`;
    const { run_id: runId } = await console.client.runs.create(threadId, 'patient', {
      input: says(words),
      checkpoint_id: from,
      stream_mode: ['messages-tuple', 'updates', 'tasks'],
      stream_resumable: true,
    });
    const page = await console.open('/inbox', { expected: /403/ });
    let refuse = (): void => undefined;
    const refused = new Promise<void>((resolve) => (refuse = resolve));
    await page.route(`**/threads/${threadId}/state/${from}`, async (route) => {
      await refused;
      await route.fulfill({ status: 403, json: { detail: 'You may not read the state.' } });
    });
    const reads = Promise.all([
      page.waitForRequest(`**/threads/${threadId}/state/${from}`),
      page.waitForResponse(`**/threads/${threadId}/state`),
    ]);
    await page.goto(`${console.url}/console/playground?assistant=patient&thread=${threadId}&run=${runId}`);
    const conversation = page.getByRole('region', { name: 'Conversation', exact: true });
    await reads;
    await badge(page, 'running').waitFor();
    await expect.poll(() => conversation.getByText(/older|newer/).count()).toBe(0);
    refuse();
    await conversation.getByText('one two', { exact: true }).waitFor();
    await conversation.getByText(words, { exact: true }).waitFor();
    await expect.poll(() => conversation.getByText(/older|newer/).count()).toBe(0);
    await gate.open();
    await badge(page, 'success').waitFor();
    await conversation.getByText('an older text', { exact: true }).first().waitFor();
    await expect.poll(() => conversation.getByText('a newer text').count()).toBe(0);
  });

  it('keeps the draft of its state while it is not JSON, and when the server refuses the update', async () => {
    await using gate = closedGate();
    const { threadId } = await run(console.client, 'patient', says('hello'));
    const from = await checkpointBefore(threadId, 'repeat');
    const open = await console.client.runs.create(threadId, 'patient', { input: says(gate.word) });
    const page = await openAt(threadId, from, { expected: /409/ });
    await page.getByRole('button', { name: 'Run from here' }).click();
    await page.getByRole('alert').filter({ hasText: 'Thread is already running a task.' }).waitFor();
    await page.getByRole('button', { name: 'Edit and run…' }).click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByLabel('Update of the state, as JSON');
    expect(JSON.parse(await field.inputValue())).toEqual({ plan: 'Repeat 1 messages' });
    const fork = dialog.getByRole('button', { name: 'Fork only' });
    await field.fill('{ "plan": ');
    await dialog.getByText('Not valid JSON').waitFor();
    await expect.poll(() => fork.isDisabled()).toBe(true);
    await field.fill('["plan"]');
    await dialog.getByText('The update must be an object').waitFor();
    const draft = '{ "plan": "Another plan" }';
    await field.fill(draft);
    await fork.click();
    await dialog.getByRole('alert').filter({ hasText: 'Thread is busy' }).waitFor();
    await expect.poll(() => field.inputValue()).toBe(draft);
    await gate.open();
    await console.client.runs.join(threadId, open.run_id);
    await fork.click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('next: repeat').waitFor();
    const made = new URL(page.url()).searchParams.get('checkpoint')!;
    expect(made).not.toBe(from);
    const state = await threads.getState(threadId);
    expect(state).toMatchObject({ checkpoint_id: made, parent_checkpoint_id: from, next: ['repeat'] });
    expect(state.values).toMatchObject({ plan: 'Another plan' });
    await page.getByRole('region', { name: 'changed plan' }).waitFor();
  });

  it('keeps the fork when only the run is refused: the next try runs it', async () => {
    const { threadId } = await run(console.client, 'agent', says('Weather in Zurich?'));
    const page = await openAt(threadId, await checkpointBefore(threadId, 'tools'), { expected: /403/ });
    await page.route(`**/threads/${threadId}/runs`, (route) =>
      route.fulfill({ status: 403, json: { detail: 'You may not start runs.' } }),
    );
    await page.getByRole('button', { name: 'Edit and run…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Fork and run' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'You may not start runs.' }).waitFor();
    await page.unrouteAll();
    await dialog.getByRole('button', { name: 'Fork and run' }).click();
    await page.waitForURL('**/playground?**');
    await badge(page, 'success').waitFor();
    const history = await threads.getHistory(threadId, { limit: 100 });
    expect(history.filter(({ metadata }) => metadata['source'] === 'update')).toHaveLength(1);
    expect(messagesOf(await threads.getState(threadId))).toHaveLength(4);
  });

  it('that has asked asks again when it is run again', async () => {
    const { threadId } = await run(console.client, 'approval', { topic: 'tea' });
    const asked = (await threads.getState(threadId)).checkpoint_id ?? '';
    await console.client.runs.wait(threadId, 'approval', { command: { resume: { approve: true } } });
    const page = await openAt(threadId, asked);
    await page.getByRole('button', { name: 'Run from here' }).click();
    await page.getByRole('heading', { name: 'Send this?' }).waitFor();
    await page.getByLabel('Your answer, as JSON').fill('{ "approve": false }');
    await page.getByRole('button', { name: 'Send answer' }).click();
    const values = async () => (await threads.getState(threadId)).values;
    await expect.poll(values).toMatchObject({ decision: 'discarded' });
  });

  it('is edited without what the page has not read', async () => {
    const { thread_id: threadId } = await threads.create({ graphId: 'patient' });
    const plan = Array.from({ length: 5_000 }, (_, row) => ({ row, text: 'word '.repeat(20) }));
    const values = { plan, ...says('hello') };
    await threads.updateState(threadId, { values, asNode: 'prepare' });
    const page = await openAt(threadId, (await threads.getState(threadId)).checkpoint_id ?? '', {
      viewport: { width: 390, height: 800 },
    });
    await page.getByRole('button', { name: 'Edit and run…' }).click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByLabel('Update of the state, as JSON');
    await dialog.getByText('Left out, because the page has not read the whole value: plan.').waitFor();
    await dialog.getByText('The update begins empty, because the checkpoint has no parent').waitFor();
    expect(JSON.parse(await field.inputValue())).toEqual({});
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    await dialog.getByRole('button', { name: '+ messages' }).click();
    await expect.poll(() => field.inputValue()).toContain('"hello"');
    await field.fill('{}');
    await dialog.getByRole('button', { name: 'Fork only' }).click();
    await dialog.waitFor({ state: 'detached' });
    const state = await threads.getState(threadId);
    expect(state.metadata['step']).toBe(1);
    expect((state.values as { plan: unknown[] }).plan).toHaveLength(5_000);
  });

  it('that a prune has kept is edited from an empty update, which changes nothing', async () => {
    const { threadId } = await run(console.client, 'agent', says('Add 2 and 40'));
    const { values } = await threads.getState(threadId);
    await threads.prune([threadId], { strategy: 'keep_latest' });
    const kept = (await threads.getState(threadId)).checkpoint_id ?? '';
    const page = await openAt(threadId, kept);
    await page.getByRole('button', { name: 'Edit and run…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The update begins empty, because the checkpoint has no parent').waitFor();
    await expect.poll(() => dialog.getByLabel('Update of the state, as JSON').inputValue()).toBe('{}');
    await dialog.getByRole('button', { name: '+ messages' }).waitFor();
    await dialog.getByRole('button', { name: 'Fork only' }).click();
    await dialog.waitFor({ state: 'detached' });
    const fork = await threads.getState(threadId);
    expect(fork.parent_checkpoint_id).toBe(kept);
    expect(fork.values).toEqual(values);
  });

  it('beyond the loaded pages of the list stays selected, with the draft of its dialog', async () => {
    const { thread_id: threadId } = await threads.create({ graphId: 'patient' });
    // As many checkpoints as the list loads at once: the fork pushes the oldest out.
    for (let step = 0; step < 100; step++)
      await threads.updateState(threadId, { values: { plan: `plan ${step}` }, asNode: 'prepare' });
    const oldest = (await threads.getHistory(threadId, { limit: 100 })).at(-1)?.checkpoint_id ?? '';
    const page = await openAt(threadId, oldest, { expected: /403/ });
    await page.route(`**/threads/${threadId}/runs`, (route) =>
      route.fulfill({ status: 403, json: { detail: 'You may not start runs.' } }),
    );
    const row = page.getByRole('link', { name: /^0 ?update/ });
    await page.getByRole('heading', { name: 'Step 0 · update' }).waitFor();
    await expect.poll(() => row.count()).toBe(1);
    await page.getByRole('button', { name: 'Edit and run…' }).click();
    const dialog = page.getByRole('dialog');
    const field = dialog.getByLabel('Update of the state, as JSON');
    const draft = '{ "plan": "another plan" }';
    await field.fill(draft);
    await dialog.getByRole('button', { name: 'Fork and run' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'You may not start runs.' }).waitFor();
    await expect.poll(() => field.inputValue()).toBe(draft);
    await dialog.getByRole('button', { name: 'Back' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Step 0 · update' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Step 0 · update' }).waitFor();
    await expect.poll(() => page.locator('a.checkpoint[aria-current]').count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Run from here' }).click();
    await page.waitForURL('**/playground?**');
    await badge(page, 'success').waitFor();
    expect((await threads.getState(threadId)).values).toMatchObject({ plan: 'plan 0' });
  });

  it('that does not exist is not replaced by the newest', async () => {
    const { threadId } = await run(console.client, 'agent', says('hello'));
    const missing = '00000000-0000-4000-8000-000000000000';
    const page = await openAt(threadId, missing, { expected: /404/ });
    await page.getByText('The thread has no checkpoint with the id in the address.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Run from here' }).count()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Show the newest' }).click();
    await page.getByRole('button', { name: 'Run from here' }).waitFor();
  });

  it('that is pruned while it is shown is said to be gone', async () => {
    const { threadId } = await run(console.client, 'agent', says('Add 2 and 40'));
    const page = await openAt(threadId, await checkpointBefore(threadId, 'tools'), { expected: /404/ });
    await page.getByText('next: tools').waitFor();
    await page.getByRole('button', { name: 'Prune…' }).click();
    await page.getByRole('button', { name: 'Delete earlier checkpoints' }).click();
    await page.getByRole('alert').filter({ hasText: 'This checkpoint no longer exists.' }).waitFor();
    await page.getByRole('link', { name: 'Show the newest' }).click();
    await page.getByText('next: no node').waitFor();
  });
});
