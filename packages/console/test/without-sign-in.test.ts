// A server without authentication, as `npm start` serves it: traces are open on this machine, and a key is only for changes.
import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole } from './browser.ts';
import { startServerProcess, traceKey } from './serve.ts';
import { enterKey, tracesOf } from './traces.ts';
import { useServer } from './use-server.ts';

describeInBrowser('without a sign-in', () => {
  const console = useConsole();
  const server = useServer({ env: { SVC_CONSOLE_VIEWER: 'on' } });

  it('the trace of an answer is one click away, and its thread another', async () => {
    const page = await console.open('/playground?assistant=agent', { url: server.url });
    await page.getByLabel('Message', { exact: true }).fill('What is the weather in Oslo?');
    await page.keyboard.press('Enter');
    await page.getByText('The weather: snow, -3 °C.').waitFor();
    await page.getByRole('link', { name: 'Trace', exact: true }).click();
    await page.getByRole('heading', { name: 'agent', level: 1 }).waitFor();
    await page.getByRole('treeitem', { name: /tools/ }).first().waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'Thread', exact: true }).click();
    await page.getByText('The weather: snow, -3 °C.').waitFor();
    expect(await page.evaluate(() => document.cookie)).toBe('');
  });

  it('a key is entered once for changes, and forgotten again', async () => {
    const page = await console.open('/exports', { url: server.url });
    const newExport = page.getByRole('button', { name: 'New export' });
    const asking = page.getByRole('dialog', { name: 'Changes need an API key' });
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'Settings need an API key' }).waitFor();
    await page.getByText('Everybody on this machine may look').waitFor();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await page.getByRole('link', { name: 'Exports' }).click();
    await page.getByRole('button', { name: 'Enter an API key' }).click();
    await asking.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await newExport.click();
    await asking.waitFor();
    // The field has the focus.
    await page.keyboard.insertText(traceKey);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Account' }).waitFor();
    await asking.waitFor({ state: 'hidden' });
    await newExport.click();
    await page.getByRole('heading', { name: 'New export', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Forget the API key' }).click();
    await page.getByRole('button', { name: 'Enter an API key' }).waitFor();
    await newExport.click();
    await asking.waitFor();
    await enterKey(page);
    await asking.waitFor({ state: 'hidden' });
    // The same button, which has asked once, does not ask by itself.
    await page.getByRole('button', { name: 'Forget the API key' }).click();
    await page.getByRole('button', { name: 'Enter an API key' }).waitFor();
    await expect.poll(() => asking.count()).toBe(0);
  });

  it('a key that is too weak is named while the form is open', async () => {
    const { key } = await tracesOf(server.url).client.keys.create({ role: 'viewer' });
    const page = await console.open('/exports', { url: server.url });
    await page.getByRole('button', { name: 'New export' }).click();
    await enterKey(page, key);
    await page.getByRole('alert').filter({ hasText: 'This key has the role viewer.' }).waitFor();
    await enterKey(page);
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Account' }).waitFor();
  });

  it('two tabs that open at once both show traces', async () => {
    await tracesOf(server.url).send('both tabs', 1);
    // One of the two sends the cookie of the other with its own token, and loads the session again.
    const first = await console.open('/traces', { url: server.url, expected: /401/ });
    const second = await first.context().newPage();
    await Promise.all([first.reload(), second.goto(`${server.url}/console/traces`)]);
    for (const page of [first, second])
      await page.getByRole('link', { name: /agent of both tabs/ }).waitFor();
    await second.close();
  });

  it('the pages ask for a key when the one of the console was revoked', async () => {
    await using own = await startServerProcess({ env: { SVC_CONSOLE_VIEWER: 'on' } });
    const page = await console.open('/traces', { url: own.url, expected: /401/ });
    await page.getByRole('heading', { name: 'There are no traces yet' }).waitFor();
    const { keys } = tracesOf(own.url).client;
    const [key] = (await keys.list()).filter(({ role }) => role === 'viewer');
    await keys.revoke(key?.id ?? '');
    await page.reload();
    await page.getByRole('heading', { name: 'Traces need an API key' }).waitFor();
    await page.close();
  });
});
