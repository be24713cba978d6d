// What a person does in the playground while a request has no answer yet.
import { expect, it } from 'vitest';
import { closedGate, run, says } from '../conversations.ts';
import { describeInBrowser, useConsole, type Page } from '../browser.ts';

const send = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
};

const badge = (page: Page, status: string) => page.locator('.badge', { hasText: status }).first();

interface Held {
  /** Resolves when the first request is held. */
  first: Promise<void>;
  count: () => number;
  /** Resolves when the page has the answers of the held requests. */
  release: () => Promise<void>;
}

/** Holds the requests of a page back that this path and method have. */
const hold = async (page: Page, method: string, path: RegExp): Promise<Held> => {
  let release = (): void => undefined;
  let arrived = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const first = new Promise<void>((resolve) => (arrived = resolve));
  const answers: Promise<unknown>[] = [];
  await page.route(
    (url) => path.test(url.pathname),
    async (route) => {
      if (route.request().method() !== method) return route.fallback();
      answers.push(route.request().response());
      arrived();
      await released;
      return route.continue();
    },
  );
  return {
    first,
    count: () => answers.length,
    release: async () => {
      release();
      await Promise.allSettled(answers);
    },
  };
};

describeInBrowser('the playground, while a request is in flight,', () => {
  const console = useConsole();

  /** A thread whose message is being edited: its history is held. */
  const editing = async () => {
    const { threadId } = await run(console.client, 'patient', says('the first text'));
    const page = await console.open(`/playground?assistant=patient&thread=${threadId}`);
    const history = await hold(page, 'POST', /\/history$/);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Edited message').fill('the edited text');
    await page.getByRole('button', { name: 'Fork and run' }).click();
    await history.first;
    return { page, threadId, history };
  };
  const runsOf = async (threadId: string) => (await console.client.runs.list(threadId)).length;

  it('starts no run of an edited message when another thread is shown meanwhile', async () => {
    const { page, threadId, history } = await editing();
    await page.getByRole('button', { name: 'New thread' }).click();
    await page.getByText('Repeats words slowly').waitFor();
    await history.release();
    // The next run ends after an earlier one would have been in the address.
    await send(page, 'the second text');
    await badge(page, 'success').waitFor();
    expect(await runsOf(threadId)).toBe(1);
    expect(new URL(page.url()).searchParams.get('thread')).not.toBe(threadId);
    await expect.poll(() => page.getByText('the second text', { exact: true }).count()).toBe(2);
    await expect.poll(() => page.getByText('the edited text').count()).toBe(0);
  });

  it('starts no run of an edited message when another assistant or page is shown meanwhile', async () => {
    const other = await editing();
    await other.page.getByLabel('Assistant', { exact: true }).selectOption({ label: 'agent v1' });
    await other.page.getByText('Answers questions with the help of two tools').waitFor();
    await other.history.release();
    await send(other.page, 'good morning');
    await other.page.getByText('You said: good morning.').waitFor();
    expect(await runsOf(other.threadId)).toBe(1);
    const left = await editing();
    await left.page.getByRole('link', { name: 'Threads', exact: true }).click();
    await left.page.getByRole('heading', { name: 'Threads', exact: true }).waitFor();
    await left.history.release();
    await left.page.getByRole('link', { name: 'Crons', exact: true }).click();
    await left.page.getByRole('heading', { name: 'Crons', exact: true }).waitFor();
    expect(await runsOf(left.threadId)).toBe(1);
    expect(new URL(left.page.url()).pathname).toMatch(/\/crons$/);
  });

  it('starts one run while the history of an edited message is read', async () => {
    const { page, threadId, history } = await editing();
    await page.getByLabel('Message', { exact: true }).fill('another text');
    await expect.poll(() => page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
    await history.release();
    await page.getByText('Forked.').waitFor();
    await badge(page, 'success').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(false);
    expect(await runsOf(threadId)).toBe(2);
  });

  it('creates one thread for a double click on Run, and one for each column of a comparison', async () => {
    for (const [compared, threads] of [
      ['', 1],
      ['&compare=approval', 2],
    ] as const) {
      const page = await console.open(`/playground?assistant=approval${compared}`);
      const created = await hold(page, 'POST', /\/threads$/);
      await page.getByLabel('topic').fill('tea');
      const button = page.getByRole('button', { name: 'Run', exact: true });
      await button.dblclick();
      await created.first;
      await expect.poll(() => button.isDisabled()).toBe(true);
      await created.release();
      await expect.poll(() => page.getByRole('heading', { name: 'Send this?' }).count()).toBe(threads);
      expect(created.count()).toBe(threads);
    }
  });

  it('shows why a thread is not created, and sends again', async () => {
    const page = await console.open('/playground?assistant=approval', { expected: /403/ });
    const path = (url: URL): boolean => url.pathname.endsWith('/threads');
    await page.route(path, (route) =>
      route.fulfill({ status: 403, json: { detail: 'You may not create threads.' } }),
    );
    await page.getByLabel('topic').fill('tea');
    const button = page.getByRole('button', { name: 'Run', exact: true });
    await button.click();
    await page.getByRole('alert').filter({ hasText: 'You may not create threads.' }).waitFor();
    await page.unroute(path);
    await button.click();
    await page.getByRole('heading', { name: 'Send this?' }).waitFor();
  });

  it('keeps a new message in sight when the reads after the earlier run end', async () => {
    await using first = closedGate();
    await using second = closedGate();
    await using third = closedGate();
    const page = await console.open('/playground?assistant=patient');
    await send(page, `a text ${first.word}`);
    await page.getByText('a text', { exact: true }).waitFor();
    const counts = await hold(page, 'POST', /\/threads\/count$/);
    const stateRead = page.waitForResponse((response) => response.url().endsWith('/state'));
    await first.open();
    await Promise.all([stateRead, counts.first]);
    await page.getByRole('button', { name: 'New thread' }).click();
    const words = `one two ${second.word} three ${third.word} four`;
    await send(page, words);
    await page.getByText('one two', { exact: true }).waitFor();
    await counts.release();
    await second.open();
    await page.getByText(`one two ${second.word} three`, { exact: true }).waitFor();
    await expect.poll(() => page.getByText(words, { exact: true }).count()).toBe(1);
    await third.open();
    await badge(page, 'success').waitFor();
    await expect.poll(() => page.getByText(words, { exact: true }).count()).toBe(2);
  });

  it('sends a message into the run, which takes it before its next step', async () => {
    await using gate = closedGate();
    const page = await console.open('/playground?assistant=patient');
    await send(page, `twice ${gate.word} `);
    await page.getByText('twice', { exact: true }).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('and this');
    await page.getByRole('button', { name: 'Send into the run' }).click();
    await page.locator('.message[data-kind="human"]', { hasText: 'and this' }).waitFor();
    await gate.open();
    await badge(page, 'success').waitFor();
    const kinds = page.locator('.message');
    await expect
      .poll(() => kinds.evaluateAll((all) => all.map((one) => one.dataset['kind'])))
      .toEqual(['human', 'ai', 'human', 'ai']);
    const threadId = new URL(page.url()).searchParams.get('thread') ?? '';
    const runs = await console.client.runs.list(threadId);
    expect(runs.map(({ status }) => status)).toEqual(['interrupted', 'success']);
  });

  it('shows the run of a message that the run has not taken', async () => {
    await using gate = closedGate();
    const page = await console.open('/playground?assistant=patient');
    await send(page, `once ${gate.word} `);
    await page.getByText('once', { exact: true }).waitFor();
    await send(page, 'the next text');
    await page.locator('.message[data-kind="human"]', { hasText: 'the next text' }).waitFor();
    await gate.open();
    await page.locator('.message[data-kind="ai"]', { hasText: 'the next text' }).waitFor();
    await badge(page, 'success').waitFor();
  });
});
