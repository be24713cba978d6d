// What a person does in the playground while a request has no answer yet.
import { expect, it } from 'vitest';
import { closedGate } from '../conversations.ts';
import { describeInBrowser, useConsole, type Page } from '../browser.ts';

const send = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
};

const badge = (page: Page, status: string) => page.locator('.badge', { hasText: status }).first();

interface Held {
  /** Resolves when the first request is held. */
  first: Promise<void>;
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
    release: async () => {
      release();
      await Promise.allSettled(answers);
    },
  };
};

describeInBrowser('the playground, while a request is in flight,', () => {
  const console = useConsole();

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
    expect(await page.getByText(words, { exact: true }).count()).toBe(1);
    await third.open();
    await badge(page, 'success').waitFor();
    await expect.poll(() => page.getByText(words, { exact: true }).count()).toBe(2);
  });
});
