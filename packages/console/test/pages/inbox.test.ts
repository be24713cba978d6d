import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole } from '../browser.ts';
import { closedGate, run, says } from '../conversations.ts';

describeInBrowser('the inbox', () => {
  const console = useConsole();

  it('shows the threads that wait, and removes one when it is answered', async () => {
    const { threadId } = await run(console.client, 'approval', { topic: 'the inbox' });
    const page = await console.open(`/inbox?sel=${threadId}`);
    await page.getByRole('definition').filter({ hasText: 'Dear all, a word about the inbox.' }).waitFor();
    const item = page.getByRole('link', { name: threadId.slice(0, 8) });
    await item.waitFor();
    await page.getByLabel('Your answer, as JSON').fill('{ "approve": true, "edit": "Short." }');
    await page.keyboard.press('Control+Enter');
    const sent = page
      .getByRole('status')
      .filter({ hasText: /^Answer sent\. Run .{8} has ended: success\.$/ });
    await sent.waitFor();
    await expect.poll(() => item.count()).toBe(0);
    await expect
      .poll(async () => (await console.client.threads.getState(threadId)).values)
      .toMatchObject({ draft: 'Short.', decision: 'sent' });
    const [resumed] = await console.client.runs.list(threadId);
    expect(await seriousFindings(page)).toEqual([]);
    await sent.getByRole('link', { name: `Run ${resumed?.run_id.slice(0, 8)}` }).click();
    await page.waitForURL(`**/runs/${resumed?.run_id}?**`);
  });

  it('counts those that wait in the rail', async () => {
    await run(console.client, 'approval', { topic: 'the rail' });
    const page = await console.open('/');
    await page.getByRole('link', { name: /^Inbox \d+ waiting$/ }).click();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.getByRole('link', { name: 'Send this?' }).first().click();
    await page.getByRole('heading', { name: 'Send this?' }).waitFor();
  });

  it('says when somebody else has answered in between', async () => {
    const { threadId } = await run(console.client, 'approval', { topic: 'two people' });
    const page = await console.open(`/inbox?sel=${threadId}`);
    await page.getByLabel('Your answer, as JSON').fill('{ "approve": false }');
    await console.client.runs.wait(threadId, 'approval', { command: { resume: { approve: true } } });
    await expect.poll(() => page.getByRole('link', { name: threadId.slice(0, 8) }).count()).toBe(0);
    const { values } = await console.client.threads.getState(threadId);
    expect(values).toMatchObject({ decision: 'sent' });
  });

  it('takes an answer by the keys, and shows Markdown in a title', async () => {
    const { assistant_id: id } = await console.client.assistants.create({ graph_id: 'asking' });
    const asks = (value: unknown) => run(console.client, id, { question: value } as never);
    const request = { action_requests: [{ name: 'send', args: { to: 'ann' } }] };
    const approved = await asks({
      ...request,
      review_configs: [{ allowed_decisions: ['approve', 'reject'] }],
    });
    const page = await console.open(`/inbox?sel=${approved.threadId}`);
    const hasFocus = (label: string): Promise<boolean> =>
      page.getByLabel(label).evaluate((field) => field === document.activeElement);
    await page.getByRole('heading', { name: 'Allow send?' }).waitFor();
    await page.keyboard.press('r');
    await expect.poll(() => hasFocus('Your words')).toBe(true);
    await page.keyboard.type('not now');
    await page.keyboard.press('Control+Enter');
    const answerOf = async (threadId: string) =>
      ((await console.client.threads.getState(threadId)).values as { answer?: unknown }).answer;
    await expect
      .poll(() => answerOf(approved.threadId))
      .toEqual({ decisions: [{ type: 'reject', message: 'not now' }] });
    const accepted = await asks({
      action_request: { action: 'send', args: { to: 'ann' } },
      config: { allow_accept: true, allow_edit: true },
    });
    await page.goto(`${console.url}/console/inbox?sel=${accepted.threadId}`);
    await page.getByRole('heading', { name: 'Allow send?' }).waitFor();
    await page.keyboard.press('e');
    await expect.poll(() => hasFocus('Arguments')).toBe(true);
    await page.getByRole('heading', { name: 'Inbox' }).click();
    await page.keyboard.press('a');
    await expect.poll(() => answerOf(accepted.threadId)).toEqual([{ type: 'accept', args: null }]);
    const told = await asks('**Which** city? <img src=x onerror=alert(1)>');
    await page.goto(`${console.url}/console/inbox?sel=${told.threadId}`);
    await page.getByRole('heading', { name: 'Which city?' }).locator('strong').waitFor();
    await expect.poll(() => page.title()).toMatch(/^\(\d+\) Inbox/);
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('r');
    await page.keyboard.type('Oslo');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => answerOf(told.threadId)).toBe('Oslo');
  });

  it('says when nobody waits', async () => {
    const page = await console.open('/inbox?graph=agent');
    await page.getByRole('heading', { name: 'Nobody is waiting for you' }).waitFor();
  });

  it('lists threads with a cancelled run separately from threads that ask', async () => {
    await using gate = closedGate();
    const { thread_id: threadId } = await console.client.threads.create();
    const options = { input: says(gate.word) };
    const { run_id: runId } = await console.client.runs.create(threadId, 'patient', options);
    const next = async () => (await console.client.threads.getState(threadId)).next;
    await expect.poll(next).toEqual(['repeat']);
    await console.client.runs.cancel(threadId, runId, { wait: true });
    const asking = await run(console.client, 'approval', { topic: 'the other list' });
    const page = await console.open('/inbox');
    const itemOf = (id: string) => page.getByRole('link', { name: id.slice(0, 8) });
    await itemOf(asking.threadId).waitFor();
    await expect.poll(() => itemOf(threadId).count()).toBe(0);
    await page.getByRole('button', { name: /^Stopped without a question \d+$/ }).click();
    await itemOf(threadId).click();
    await expect.poll(() => itemOf(asking.threadId).count()).toBe(0);
    await page
      .getByText('The thread asks nothing: a breakpoint has stopped it, or its run was cancelled')
      .waitFor();
  });
});
