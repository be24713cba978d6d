import { expect, it } from 'vitest';
import { until } from '../../../server/test/eventually.ts';
import { closedGate, run, says } from '../conversations.ts';
import { describeInBrowser, seriousFindings, useConsole, type Page } from '../browser.ts';
import { startServerProcess } from '../serve.ts';

const send = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
};

const badge = (page: Page, status: string) => page.locator('.badge', { hasText: status }).first();

describeInBrowser('the playground', () => {
  const console = useConsole();

  it('streams an answer with its tool calls, and lights the nodes of the graph', async () => {
    const page = await console.open('/playground?assistant=agent');
    const litNodes = page.evaluate(
      () =>
        new Promise((resolve) => {
          const lit: string[] = [];
          addEventListener('animationstart', ({ target }) => {
            lit.push((target as Element).getAttribute('title') ?? '');
            if (lit.includes('agent') && lit.includes('tools')) resolve(true);
          });
        }),
    );
    await send(page, 'What is the weather in Oslo?');
    await litNodes;
    await page.getByText('The weather: snow, -3 °C.').waitFor();
    await badge(page, 'success').waitFor();
    await page.getByRole('button', { name: /^weather/ }).click();
    await page.getByRole('heading', { name: 'Arguments' }).waitFor();
    const nodes = page.getByRole('list', { name: 'Nodes' }).getByRole('listitem');
    await expect.poll(() => nodes.allTextContents()).toEqual(['agent: done', 'tools: done']);
    await expect.poll(() => page.getByText('What is the weather in Oslo?').count()).toBe(1);
  });

  it('shows the same conversation after a reload', async () => {
    const page = await console.open('/playground?assistant=agent');
    await send(page, 'Add 12 and 30');
    await page.getByText('The sum is 42.').waitFor();
    await badge(page, 'success').waitFor();
    await page.reload();
    await page.getByText('The sum is 42.').waitFor();
    await expect.poll(() => page.getByText('The sum is 42.').count()).toBe(1);
  });

  it('keeps the drafts of an assistant over a reload until they are sent', async () => {
    const page = await console.open('/playground?assistant=agent');
    const message = page.getByLabel('Message', { exact: true });
    await message.fill('Add 2 and 3');
    await page.reload();
    await message.waitFor();
    expect(await message.inputValue()).toBe('Add 2 and 3');
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    const json = page.getByLabel('Input, as JSON');
    await json.fill('{"messages": [{"role": "user", "content": "Add 4 and 5"}]}');
    await page.reload();
    await expect.poll(() => json.inputValue()).toContain('Add 4 and 5');
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    await message.press('Enter');
    await page.getByText('The sum is 5.').waitFor();
    await badge(page, 'success').waitFor();
    await page.reload();
    await page.getByText('The sum is 5.').waitFor();
    expect(await message.inputValue()).toBe('');
  });

  it('continues a stream after a reload, without losing or doubling a word', async () => {
    await using gate = closedGate();
    const words = `one two three ${gate.word} four five six`;
    const page = await console.open('/playground?assistant=patient');
    await send(page, words);
    await page.getByText('one two three', { exact: true }).waitFor();
    await page.waitForURL(/run=/);
    await page.reload();
    await badge(page, 'running').waitFor();
    await page.getByText('one two three', { exact: true }).waitFor();
    await gate.open();
    await badge(page, 'success').waitFor();
    await expect.poll(() => page.getByText(words, { exact: true }).count()).toBe(2);
  });

  it('says why the run of a thread has not started', async () => {
    const { thread_id: thread } = await console.client.threads.create();
    const waiting = await console.client.runs.create(thread, 'agent', {
      input: { messages: [] },
      after_seconds: 3_600,
    });
    const page = await console.open(`/playground?assistant=agent&thread=${thread}`);
    await badge(page, 'pending').waitFor();
    await page
      .getByText(/The run may start at/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await expect
      .poll(async () => (await console.client.runs.get(thread, waiting.run_id)).status)
      .toBe('interrupted');
  });

  it('gives back a message that the server has not taken', async () => {
    await using server = await startServerProcess();
    const page = await console.open('/playground?assistant=patient', {
      url: server.url,
      expected: /Failed to load|ERR_/,
    });
    const message = page.getByLabel('Message', { exact: true });
    await message.fill('my message');
    await server.stop();
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'No response' }).waitFor();
    await expect.poll(() => message.inputValue()).toBe('my message');
    await page.close();
  });

  it('writes a message into its field again when its run was not created, unless another thread is shown', async () => {
    const page = await console.open('/playground?assistant=agent', { expected: /Failed to load|ERR_/ });
    await send(page, 'What is the weather in Oslo?');
    await badge(page, 'success').waitFor();
    await page.route('**/runs/stream', (route) => route.abort());
    const message = page.getByLabel('Message', { exact: true });
    await send(page, 'my second message');
    await page.getByRole('alert').filter({ hasText: 'No response' }).waitFor();
    await expect.poll(() => message.inputValue()).toBe('my second message');
    await send(page, 'my third message');
    await page.getByRole('button', { name: 'New thread' }).click();
    await page.waitForURL((url) => !url.searchParams.has('thread'));
    await page.unroute('**/runs/stream');
    await send(page, 'What is the weather in Rome?');
    await badge(page, 'success').waitFor();
    await expect.poll(() => message.inputValue()).toBe('');
  });

  it('continues a stream when the server is restarted', async () => {
    await using server = await startServerProcess();
    await using gate = closedGate();
    const words = `one two three ${gate.word} four five six`;
    const page = await console.open('/playground?assistant=patient', {
      url: server.url,
      expected: /Failed to load|ERR_/,
    });
    await send(page, words);
    await page.getByText('one two three', { exact: true }).waitFor();
    const failed: string[] = [];
    page.on('requestfailed', (request) => failed.push(new URL(request.url()).pathname));
    await server.stop();
    await page.getByRole('status').filter({ hasText: 'server away' }).waitFor();
    // Reconnects of the stream alone would have ended: they take less time than two probes of the server.
    await until(() => /\/stream(,[^,]+)*,\/ok,\/ok$/.test(failed.join()));
    await server.start();
    await gate.open();
    await badge(page, 'success').waitFor();
    await expect.poll(() => page.getByText(words, { exact: true }).count()).toBe(2);
    // Before the server ends, because the page would report failed requests.
    await page.close();
  });

  it('stops a run', async () => {
    const page = await console.open('/playground?assistant=patient');
    await using gate = closedGate();
    await send(page, `a text ${gate.word} that goes on`);
    await page.getByText('a text', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await badge(page, 'cancelled').waitFor();
    const [run] = await console.client.runs.list(new URL(page.url()).searchParams.get('thread')!);
    expect(run?.status).toBe('interrupted');
  });

  it('forks a conversation where a message is edited, and says so', async () => {
    const page = await console.open('/playground?assistant=agent');
    await send(page, 'Weather in Oslo, please');
    await page.getByText('The weather: snow, -3 °C.').waitFor();
    await badge(page, 'success').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Edited message').fill('Weather in Lisbon, please');
    await page.getByRole('button', { name: 'Fork and run' }).click();
    await page.getByText('The weather: sunny, 24 °C.').waitFor();
    await badge(page, 'success').waitFor();
    await expect.poll(() => page.getByText('The weather: snow, -3 °C.').count()).toBe(0);
    await page.getByText('Forked.').waitFor();
    const threadId = new URL(page.url()).searchParams.get('thread')!;
    const state = await console.client.threads.getState(threadId);
    expect((state.values as { messages: unknown[] }).messages).toHaveLength(4);
    await page.getByRole('link', { name: 'checkpoints of the thread' }).click();
    await page.getByRole('navigation', { name: 'Checkpoints, newest first' }).waitFor();
  });

  it('has a form for a graph without a conversation, and answers its question in place', async () => {
    const page = await console.open('/playground?assistant=approval');
    await page.getByLabel('topic').fill('tea');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('heading', { name: 'Send this?' }).waitFor();
    const nodes = page.getByRole('list', { name: 'Nodes' });
    await expect.poll(() => nodes.textContent()).toContain('review: interrupted');
    await page.getByRole('button', { name: '{ "approve": true }' }).click();
    await page.getByRole('button', { name: 'Send answer' }).click();
    await page.getByRole('definition').filter({ hasText: 'sent' }).waitFor();
  });

  it('folds the composer while a question is open, for a graph with a conversation', async () => {
    const page = await console.open('/playground?assistant=patient');
    const message = page.getByLabel('Message', { exact: true });
    await send(page, 'ask me first');
    const question = page.getByRole('region', { name: 'Question of prepare' });
    await question.getByRole('heading', { name: 'Go on?' }).waitFor();
    await expect.poll(() => message.isVisible()).toBe(false);
    // The focus was in the message, which is hidden.
    await expect.poll(() => question.evaluate((box) => box === document.activeElement)).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send another input instead' }).click();
    await page.getByText('Sending this drops 1 open question.').waitFor();
    await expect.poll(() => message.evaluate((field) => field === document.activeElement)).toBe(true);
    await page.getByRole('button', { name: 'Back to the question' }).click();
    await expect.poll(() => message.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Send another input instead' }).click();
    await send(page, 'something else');
    await expect.poll(() => page.getByText('something else', { exact: true }).count()).toBe(2);
    await badge(page, 'success').waitFor();
    await expect.poll(() => question.count()).toBe(0);
    await expect.poll(() => message.isVisible()).toBe(true);
  });

  it('folds the form while a question is open, and shows it again after the answer', async () => {
    const page = await console.open('/playground?assistant=approval');
    await page.getByLabel('topic').fill('milk');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('1 open question above. A new input would drop it.').waitFor();
    await expect.poll(() => page.getByLabel('topic').isVisible()).toBe(false);
    await page.getByRole('button', { name: '{ "approve": false }' }).click();
    await page.getByRole('button', { name: 'Send answer' }).click();
    await page.getByRole('definition').filter({ hasText: 'discarded' }).waitFor();
    await page.getByLabel('topic').waitFor();
    await expect.poll(() => page.getByLabel('topic').inputValue()).toBe('milk');
  });

  it('keeps a message in sight that is being written when a question comes', async () => {
    const page = await console.open('/playground?assistant=patient');
    let release: (() => void) | undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/runs/stream', async (route) => {
      await released;
      await route.continue();
    });
    await send(page, 'ask me first');
    const message = page.getByLabel('Message', { exact: true });
    await message.fill('my next message');
    release?.();
    await page.getByRole('heading', { name: 'Go on?' }).waitFor();
    await page.getByText('Sending this drops 1 open question.').waitFor();
    await expect.poll(() => message.inputValue()).toBe('my next message');
    expect(await message.evaluate((field) => field === document.activeElement)).toBe(true);
  });

  it('shows the nodes that have run after Back and after a reload, without lighting them', async () => {
    const page = await console.open('/playground?assistant=agent');
    await send(page, 'What is the weather in Oslo?');
    await badge(page, 'success').waitFor();
    await page.evaluate(() => {
      const lit: string[] = [];
      Object.assign(globalThis, { lit });
      addEventListener('animationstart', ({ animationName }) => lit.push(animationName));
    });
    await page.getByRole('link', { name: 'Trace', exact: true }).click();
    await page.getByRole('heading', { name: 'Traces need an API key' }).waitFor();
    await page.goBack();
    const nodes = page.getByRole('list', { name: 'Nodes' }).getByRole('listitem');
    const done = ['agent: done', 'tools: done'];
    await expect.poll(() => nodes.allTextContents()).toEqual(done);
    const tick = page.locator('.graph-node[title=agent] .graph-node-activity');
    await expect.poll(() => tick.innerText()).toContain('×2');
    expect(await page.evaluate(() => (globalThis as unknown as { lit: string[] }).lit)).not.toContain(
      'graph-node-lit',
    );
    await page.reload();
    await expect.poll(() => nodes.allTextContents()).toEqual(done);
    await expect.poll(() => tick.innerText()).toContain('×2');
  });

  it('shows the newest run of a thread that is opened from its page', async () => {
    const { threadId, runId } = await run(console.client, 'agent', says('What is the weather in Oslo?'));
    const page = await console.open(`/threads/${threadId}`);
    await page.getByRole('link', { name: 'Open in the playground' }).click();
    await badge(page, 'success').waitFor();
    const nodes = page.getByRole('list', { name: 'Nodes' }).getByRole('listitem');
    await expect.poll(() => nodes.allTextContents()).toEqual(['agent: done', 'tools: done']);
    const hrefOf = (name: string) => page.getByRole('link', { name, exact: true }).getAttribute('href');
    expect(await hrefOf('Run')).toContain(runId);
    expect(await hrefOf('Trace')).toContain(runId);
    await send(page, 'And in Lisbon?');
    await page.getByText('The weather: sunny, 24 °C.').waitFor();
    await badge(page, 'success').waitFor();
    expect(await hrefOf('Run')).not.toContain(runId);
  });

  it('follows the newest run of a thread that is opened while the run is open', async () => {
    await using gate = closedGate();
    const { thread_id: threadId } = await console.client.threads.create({ graphId: 'patient' });
    await console.client.runs.create(threadId, 'patient', {
      input: says(`one two ${gate.word} three`),
      stream_mode: ['messages-tuple', 'values'],
      stream_resumable: true,
    });
    const page = await console.open(`/playground?assistant=patient&thread=${threadId}`);
    await badge(page, 'running').waitFor();
    await page.getByText('one two', { exact: true }).waitFor();
    await gate.open();
    await badge(page, 'success').waitFor();
  });

  it('shows where a run has failed, was stopped or asks, after a reload', async () => {
    const nodes = (page: Page) => page.getByRole('list', { name: 'Nodes' });
    const page = await console.open('/playground?assistant=patient');
    await send(page, 'fail');
    await page.getByRole('alert').waitFor();
    await page.reload();
    await expect.poll(() => nodes(page).textContent()).toContain('prepare: error');
    await page.getByRole('button', { name: 'New thread' }).click();
    await expect.poll(() => nodes(page).textContent()).toContain('prepare: not run');
    await send(page, 'ask me');
    await page.getByRole('heading', { name: 'Go on?' }).waitFor();
    await page.reload();
    await expect.poll(() => nodes(page).textContent()).toContain('prepare: interrupted');
    await using gate = closedGate();
    await page.getByRole('button', { name: 'New thread' }).click();
    await send(page, `stop here ${gate.word}`);
    await page.getByText('stop here', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await badge(page, 'cancelled').waitFor();
    await page.reload();
    await expect.poll(() => nodes(page).textContent()).toContain('repeat: interrupted');
  });

  it('shows the thread of the address after Back, also while another run streams', async () => {
    await using gate = closedGate();
    const page = await console.open('/playground?assistant=patient');
    await send(page, 'the first thread');
    await badge(page, 'success').waitFor();
    await page.getByRole('button', { name: 'New thread' }).click();
    await send(page, `the second ${gate.word} thread`);
    await page.getByText('the second', { exact: true }).waitFor();
    await page.goBack();
    await page.goBack();
    await expect.poll(() => page.getByText('the first thread', { exact: true }).count()).toBe(2);
    await expect.poll(() => page.getByText('the second', { exact: true }).count()).toBe(0);
    await page.goForward();
    await page.goForward();
    await page.getByText('the second', { exact: true }).waitFor();
    await gate.open();
    await badge(page, 'success').waitFor();
    await expect
      .poll(() => page.getByText(`the second ${gate.word} thread`, { exact: true }).count())
      .toBe(2);
  });

  it('shows its graph and its settings on a narrow screen too', async () => {
    const page = await console.open('/playground?assistant=agent', { viewport: { width: 390, height: 800 } });
    const message = page.getByLabel('Message', { exact: true });
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    await message.waitFor();
    expect(await overflow()).toBe(0);
    const stop = page.getByLabel('Stop before these nodes');
    await expect.poll(() => stop.isVisible()).toBe(false);
    await page.getByRole('tab', { name: 'Conversation' }).focus();
    await page.keyboard.press('ArrowRight');
    const node = page.getByRole('region', { name: 'Graph' }).locator('.graph-node[title=tools]');
    // As large as on a wide screen, although the tab was hidden when the graph was drawn.
    await expect.poll(async () => (await node.boundingBox())?.width).toBeGreaterThan(60);
    await expect.poll(() => message.isVisible()).toBe(false);
    expect(await overflow()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('ArrowRight');
    await stop.fill('tools');
    expect(await overflow()).toBe(0);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Conversation' }).click();
    await send(page, 'Weather in Zurich?');
    await page.getByText('Stopped before tools.').waitFor();
    expect(await overflow()).toBe(0);
    await page.setViewportSize({ width: 1200, height: 800 });
    await stop.waitFor();
    await page.getByLabel('Graph of the assistant').waitFor();
    await message.waitFor();
    await expect.poll(() => page.getByRole('tab', { name: 'Graph' }).count()).toBe(0);
    await stop.fill('');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The weather: fog in the morning, 9 °C.').waitFor();
  });

  it('keeps the draft of an answer over a reload', async () => {
    const page = await console.open('/playground?assistant=approval');
    await page.getByLabel('topic').fill('coffee');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByLabel('Your answer, as JSON').fill('{ "approve": fal');
    await page.getByText('Not valid JSON').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Send answer' }).isDisabled()).toBe(true);
    await page.reload();
    await expect.poll(() => page.getByLabel('Your answer, as JSON').inputValue()).toBe('{ "approve": fal');
  });

  it('answers a question that is a text with a text', async () => {
    const page = await console.open('/playground?assistant=patient');
    await send(page, 'ask');
    await page.getByLabel('Your answer', { exact: true }).fill('yes, "go" on');
    const sent = page.waitForRequest((request) => request.postData()?.includes('"resume"') === true);
    await page.getByRole('button', { name: 'Send answer' }).click();
    const { command } = (await sent).postDataJSON() as { command: { resume: Record<string, unknown> } };
    expect(Object.values(command.resume)).toEqual(['yes, "go" on']);
  });

  it('sends no answer with an integer that the browser rounds', async () => {
    const { threadId } = await run(console.client, 'approval', { topic: 'tea' });
    const address = `/playground?assistant=approval&thread=${threadId}`;
    const page = await console.open(address);
    await page.getByLabel('Your answer, as JSON').fill('{ "order": 9007199254740993 }');
    await page.getByText('9007199254740993 would be rounded: write it as a text.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Send answer' }).isDisabled()).toBe(true);
    // The same question, as LangChain's middleware asks it.
    await page.route(`**/threads/${threadId}/state`, async (route) => {
      const response = await route.fetch();
      const state = (await response.json()) as { tasks: { interrupts: { value: unknown }[] }[] };
      for (const { interrupts } of state.tasks)
        for (const interrupt of interrupts)
          interrupt.value = {
            action_requests: [{ name: 'order', args: { id: '#' } }],
            review_configs: [{ allowed_decisions: ['approve', 'edit'] }],
          };
      await route.fulfill({ response, body: JSON.stringify(state).replace('"#"', '9007199254740993') });
    });
    await page.reload();
    await page.getByText('The browser rounds an integer of these arguments.').waitFor();
    await page.getByText('9007199254740992').waitFor();
    const edited = page.getByRole('button', { name: 'Run edited' });
    await expect.poll(() => page.getByLabel('Arguments').inputValue()).toBe('');
    await expect.poll(() => edited.isDisabled()).toBe(true);
    await expect.poll(() => page.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(false);
    await page.getByLabel('Arguments').fill('{ "id": 9007199254740993 }');
    await expect.poll(() => edited.isDisabled()).toBe(true);
    await page.getByLabel('Arguments').fill('{ "id": "9007199254740993" }');
    await expect.poll(() => edited.isDisabled()).toBe(false);
  });

  it('stops before a node, and continues', async () => {
    const page = await console.open('/playground?assistant=agent');
    await page.getByLabel('Stop before these nodes').fill('tools');
    await send(page, 'Weather in Zurich?');
    await page.getByText('Stopped before tools.').waitFor();
    await page.getByLabel('Stop before these nodes').fill('');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The weather: fog in the morning, 9 °C.').waitFor();
  });

  it('says why a run has failed', async () => {
    const page = await console.open('/playground?assistant=patient');
    await send(page, 'fail');
    await page.getByRole('alert').filter({ hasText: 'TypeError: The plan has no first step.' }).waitFor();
    await expect
      .poll(() => page.getByRole('list', { name: 'Nodes' }).textContent())
      .toContain('prepare: error');
  });

  it('sends no run while its settings are not valid', async () => {
    const page = await console.open('/playground?assistant=agent');
    await page.getByLabel('Configurable, as JSON').fill('[1]');
    await page.getByLabel('Message', { exact: true }).fill('hello');
    await page.getByText('Configurable must be an object.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
  });

  it('has a form of the context that the graph reads', async () => {
    const page = await console.open('/playground?assistant=patient&panel=config');
    await page.getByLabel('tone').selectOption('warm');
    await send(page, 'hello');
    await page.getByRole('tab', { name: 'State' }).click();
    await page.getByText('Repeat 1 messages  warm').waitFor();
  });
});
