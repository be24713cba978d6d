// What a person does with messages in the playground.
import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole, type Page } from '../browser.ts';
import { enterKey, tracesOf } from '../traces.ts';

const send = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
};

const threadOf = (page: Page): string => new URL(page.url()).searchParams.get('thread') ?? '';

describeInBrowser('messages of the playground', () => {
  const console = useConsole();

  it('are copied, regenerated, and found again among the recent threads', async () => {
    const page = await console.open('/playground?assistant=patient');
    const clipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
    await send(page, 'Say:\n```js\nlet a = 1;\n```');
    const answer = page.locator('.message[data-kind="ai"]');
    await answer.getByRole('button', { name: 'Copy js' }).click();
    await expect.poll(clipboard).toBe('let a = 1;');
    await answer.getByRole('button', { name: 'Copy message' }).press('Enter');
    await expect.poll(clipboard).toContain('```js');
    await page.getByTitle('From the request to the end of the run').waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).press('Enter');
    await page.getByText('Forked. The earlier branch is in the').waitFor();
    await page.getByRole('button', { name: 'Regenerate' }).waitFor();
    await expect.poll(() => page.locator('.message').count()).toBe(2);
    const runs = await console.client.runs.list(threadOf(page), { limit: 10 });
    expect(runs).toHaveLength(2);
    await page.getByRole('tab', { name: 'Threads' }).click();
    const threads = page.getByRole('region', { name: 'threads' });
    await threads.getByRole('link').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    const thread = threadOf(page);
    await page.getByRole('button', { name: 'New thread' }).click();
    await expect.poll(() => page.locator('.message').count()).toBe(0);
    await threads.getByRole('link', { name: /Say/ }).first().press('Enter');
    await page.locator('.message').first().waitFor();
    expect(threadOf(page)).toBe(thread);
  });

  it('get images, PDF and text files, within a limit', async () => {
    const page = await console.open('/playground?assistant=nested');
    const field = page.getByLabel('Files of the message');
    await page.getByLabel('Message', { exact: true }).waitFor();
    await field.setInputFiles({ name: 'a.zip', mimeType: 'application/zip', buffer: Buffer.from('a') });
    await page.getByText('a.zip cannot be attached').waitFor();
    const large = Buffer.alloc(11 * 1024 ** 2);
    await field.setInputFiles({ name: 'large.pdf', mimeType: 'application/pdf', buffer: large });
    await page.getByText('may have 10.0 MB together, and these have 11.0 MB').waitFor();
    const pixel =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await field.setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') },
      { name: 'paper.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4') },
      { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('remember <b>this</b>') },
    ]);
    await page.getByRole('button', { name: 'Remove paper.pdf' }).press('Enter');
    await page.getByRole('button', { name: 'Remove notes.md' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('img', { name: 'dot.png' }).first().waitFor();
    await page.getByText('remember <b>this</b>').first().waitFor();
    await page.locator('.badge', { hasText: 'success' }).first().waitFor();
    const [run] = await console.client.runs.list(threadOf(page), { limit: 1 });
    expect(run).toMatchObject({
      kwargs: {
        input: {
          messages: [
            {
              content: [
                { type: 'image', source_type: 'base64', mime_type: 'image/png', data: pixel },
                { type: 'text', text: 'notes.md:\nremember <b>this</b>' },
              ],
            },
          ],
        },
      },
    });
    await expect.poll(() => page.getByRole('button', { name: /^Remove / }).count()).toBe(0);
  });

  it('get thumbs with a comment, as feedback on the trace of their run', async () => {
    const page = await console.open('/traces');
    await enterKey(page);
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByLabel('Assistant', { exact: true }).selectOption({ label: 'patient v1' });
    await send(page, 'one two');
    await page.getByRole('button', { name: 'Bad answer' }).click();
    await page.getByLabel('Comment').fill('three is missing');
    await page.keyboard.press('Enter');
    await page.getByText('The feedback is stored with the trace.').waitFor();
    const [run] = await console.client.runs.list(threadOf(page), { limit: 1 });
    const feedback = await tracesOf(console.url).client.traces.feedback({ run: [run?.run_id ?? ''] });
    expect(feedback).toMatchObject([{ key: 'user_score', score: 0, comment: 'three is missing' }]);
  });

  it('light the nodes that failed, and subgraphs can be opened', async () => {
    const page = await console.open('/playground?assistant=patient');
    await send(page, 'fail now');
    const failed = page.locator('.graph-node[title="prepare"][data-activity="error"]');
    await failed.waitFor();
    await page.reload();
    await failed.waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Open subgraphs' }).count()).toBe(0);
    await page.getByLabel('Assistant', { exact: true }).selectOption({ label: 'nested v1' });
    const nodes = page.getByRole('list', { name: 'Nodes' }).getByRole('listitem');
    await expect.poll(() => nodes.count()).toBe(1);
    await page.getByRole('button', { name: 'Open subgraphs' }).press('Enter');
    await expect
      .poll(() => nodes.allTextContents())
      .toEqual(['parrot:listen: not run', 'parrot:repeat: not run']);
    expect(await seriousFindings(page)).toEqual([]);
  });
});
