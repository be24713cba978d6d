import { createPlatformClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { describeInBrowser, focused, useConsole } from '../browser.ts';
import { startServerProcess } from '../serve.ts';
import { enterKey, tracesOf } from '../traces.ts';

describeInBrowser('the keys', () => {
  const console = useConsole();

  it('are created, shown once, and revoked', async () => {
    const page = await console.open('/keys');
    await enterKey(page);
    await page.getByRole('button', { name: 'New key…' }).waitFor();
    // The form with the focus is gone.
    await expect.poll(() => focused(page)).toBe('content');
    await page.getByRole('button', { name: 'New key…' }).click();
    await page.getByLabel('Description').fill('a key of the tests');
    await page.getByLabel('Role').selectOption('viewer');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const shown = page.getByRole('dialog', { name: 'The new key' });
    await shown.getByRole('button', { name: 'Copy the key' }).click();
    await shown.getByRole('button', { name: 'Copied the key' }).waitFor();
    const key = await page.evaluate(() => navigator.clipboard.readText());
    const { projects } = createPlatformClient({ apiUrl: console.url, apiKey: key });
    await projects.list();
    await page.keyboard.press('Escape');
    await shown.waitFor();
    await page.getByRole('button', { name: 'I have saved the key' }).click();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await expect.poll(() => focused(page)).toBe('New key…');
    await expect.poll(() => page.getByText(key).count()).toBe(0);
    const row = page.getByRole('row').filter({ hasText: 'a key of the tests' });
    await row.getByRole('cell', { name: 'viewer' }).waitFor();
    await row.getByRole('button', { name: /^Revoke/ }).click();
    await page.getByRole('dialog').getByText('Whoever uses it is refused from then on.').waitFor();
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await expect.poll(() => row.count()).toBe(0);
    await expect(projects.list()).rejects.toThrow('401');
  });

  it('need a key with the role admin', async () => {
    const viewer = await tracesOf(console.url).client.keys.create({ role: 'viewer' });
    const page = await console.open('/keys', { expected: /403/ });
    await enterKey(page, viewer.key);
    await page.getByRole('alert').filter({ hasText: 'admin' }).waitFor();
    await page.getByRole('heading', { name: 'Keys need the role admin' }).waitFor();
    await page.getByText('This key has the role viewer. Keys need a key with the role admin.').waitFor();
    await page.goto(`${console.url}/console/keys?tab=workspaces`);
    await page.getByRole('cell', { name: 'viewer' }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'New workspace…' }).isDisabled()).toBe(true);
  });

  it('open further workspaces, one at a time', async () => {
    // A server of its own: with a second workspace, requests with its first key need the id of one.
    await using server = await startServerProcess();
    const page = await console.open('/keys?tab=workspaces', { url: server.url });
    await enterKey(page);
    await page.getByRole('button', { name: 'New workspace…' }).click();
    await page.getByLabel('Name').fill('second');
    await page.getByRole('button', { name: 'Create the workspace' }).click();
    const second = page.getByRole('row').filter({ hasText: 'second' });
    await second.getByRole('button', { name: 'Use second' }).click();
    await second.getByText('in use').waitFor();
    await page.getByRole('tab', { name: 'Keys' }).click();
    await page.getByRole('row').nth(1).waitFor();
    await page.getByRole('link', { name: 'Exports', exact: true }).click();
    await page.getByRole('heading', { name: 'There are no exports yet' }).waitFor();
    // Before the server ends, because the page would report failed requests.
    await page.close();
  });
});
