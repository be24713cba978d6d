// The six tasks of docs/console.md, as a person does them who knows the keys.
//   SVC_SCREENSHOTS=on npm run test:console -- tasks.test    also writes their pictures to docs/console
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeInBrowser, useConsole, type Page } from './browser.ts';
import { run, says } from './conversations.ts';
import { enterKey, tracesOf } from './traces.ts';
import { useServer } from './use-server.ts';

const picture = async (page: Page, name: string): Promise<void> => {
  if (process.env['SVC_SCREENSHOTS'] !== 'on') return;
  await page.screenshot({ path: join(import.meta.dirname, '../../../docs/console', `${name}-light.png`) });
};

/** What the search of the console finds. */
const find = async (page: Page, text: string, found: string | RegExp, name?: string): Promise<void> => {
  await page.getByRole('button', { name: 'Search or paste an id' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type(text);
  await page.getByRole('option', { name: found }).waitFor();
  if (name !== undefined) await picture(page, name);
  await page.keyboard.press('Enter');
};

describeInBrowser('a new user', () => {
  const console = useConsole();
  const server = useServer({ env: { SVC_CONSOLE_VIEWER: 'on', SVC_BOOTSTRAP_API_KEY: '' } });

  it('gets a first answer', async () => {
    const page = await console.open('/', { url: server.url });
    await page.getByRole('link', { name: 'Talk to agent' }).click();
    await page.getByLabel('Message', { exact: true }).fill('What is the weather in Oslo?');
    await page.keyboard.press('Enter');
    await page.getByText('The weather: snow, -3 °C.').waitFor();
  });
});

describeInBrowser('a person at work', () => {
  const console = useConsole();

  it('changes the instructions of an assistant, compares both versions, and runs the first one', async () => {
    const { assistants } = console.client;
    const context = { manner: 'Repeat each word.', tone: 'dry' };
    await assistants.create({ graph_id: 'patient', name: 'Support', context });
    const page = await console.open('/');
    await find(page, 'Assistants', /^Assistants/);
    await page.getByRole('heading', { name: 'Assistants' }).waitFor();
    await page.getByRole('link', { name: 'Support' }).click();
    await page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByRole('dialog').getByLabel('manner').fill('Repeat each word, then say goodbye.');
    await page.getByRole('button', { name: 'Save as a new version' }).click();
    await page.getByRole('region', { name: 'changed context.manner' }).getByText('goodbye').waitFor();
    await expect.poll(() => page.getByRole('region', { name: /^(changed|added)/ }).count()).toBe(1);
    await picture(page, 'task-versions');
    await page.getByRole('link', { name: 'Version 1' }).click();
    await page.getByRole('link', { name: 'Run this version' }).click();
    await page.getByText('Runs get the config and context of version 1').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('one two');
    await page.keyboard.press('Enter');
    await page.locator('.message[data-kind="ai"]').getByText('one two').waitFor();
  });

  it('finds the run behind an id, and reads why it failed', async () => {
    const { runId } = await run(console.client, 'patient', says('fail at once'));
    const page = await console.open('/');
    await find(page, runId, /run$/);
    const stack = page.getByRole('region', { name: 'Stack of the error' });
    await stack.getByText(/patient\.ts:\d+/).waitFor();
    await page.getByText('The plan has no first step.').first().waitFor();
  });

  it('finds the conversation in which a sentence was said', async () => {
    const said = 'I wait for the refund of 300 EUR';
    const { threadId, runId } = await run(console.client, 'agent', says(said));
    await tracesOf(console.url).eventually(runId);
    const page = await console.open('/traces');
    await enterKey(page);
    await find(page, '"refund of 300 EUR"', /^Traces with/, 'task-find');
    await page.waitForURL(/filter=/);
    await page.getByRole('link', { name: runId }).click();
    await page.getByRole('link', { name: 'Open the thread' }).click();
    await page.waitForURL(`**/threads/${threadId}`);
    await page.getByText(said).first().waitFor();
  });

  it('answers ten questions by the keys', async () => {
    const { assistant_id: id } = await console.client.assistants.create({ graph_id: 'asking' });
    const question = {
      action_request: { action: 'send', args: { to: 'ann' } },
      config: { allow_accept: true },
    };
    const asked = Array.from({ length: 10 }, () => run(console.client, id, { question }));
    const threads = (await Promise.all(asked)).map(({ threadId }) => threadId);
    const page = await console.open('/inbox?graph=asking');
    const waiting = page.getByRole('link', { name: 'Allow send?' });
    for (let left = threads.length; left > 0; left--) {
      await expect.poll(() => waiting.count()).toBe(left);
      await page.keyboard.press('j');
      await page.getByRole('heading', { name: 'Allow send?' }).waitFor();
      await page.keyboard.press('a');
    }
    await expect.poll(() => waiting.count()).toBe(0);
    const states = await Promise.all(threads.map((thread) => console.client.threads.getState(thread)));
    for (const { values } of states) expect(values).toMatchObject({ answer: [{ type: 'accept' }] });
  });
});
