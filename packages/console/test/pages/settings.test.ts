import { expect, it } from 'vitest';
import { describeInBrowser, useConsole } from '../browser.ts';
import { enterKey, tracesOf } from '../traces.ts';

describeInBrowser('the settings', () => {
  const console = useConsole();

  it('are shown with their origin, and found by their name, value or meaning', async () => {
    const page = await console.open('/settings');
    await enterKey(page);
    const port = page.getByRole('row').filter({ hasText: 'SVC_PORT' });
    await port.getByRole('cell', { name: 'flag --port' }).waitFor();
    await page.getByRole('checkbox', { name: 'Changed only' }).check();
    await expect.poll(() => page.getByRole('cell', { name: 'default', exact: true }).count()).toBe(0);
    await page.getByRole('checkbox', { name: 'Changed only' }).uncheck();
    await page.getByLabel('Filter of settings').fill('delete a finished');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No setting matches' }).waitFor();
    await page.getByLabel('Filter of settings').fill('encryption');
    await page.keyboard.press('Enter');
    await page.getByRole('rowheader', { name: 'SVC_ENCRYPTION_KEY' }).waitFor();
    await expect.poll(() => port.count()).toBe(0);
    // The link shows the same.
    await page.reload();
    await page.getByRole('rowheader', { name: 'SVC_ENCRYPTION_KEY' }).waitFor();
    await expect.poll(() => port.count()).toBe(0);
  });

  it('are beside the server processes and their slots', async () => {
    const page = await console.open('/settings');
    await enterKey(page);
    await page.getByRole('tab', { name: 'Workers' }).click();
    const workers = page.getByRole('region', { name: 'Workers' });
    await workers.getByText('live').waitFor();
    await expect.poll(() => workers.getByRole('row').count()).toBe(2);
    await page.waitForURL('**/settings?tab=workers');
  });

  it('need a key with the role admin', async () => {
    const viewer = await tracesOf(console.url).client.keys.create({ role: 'viewer' });
    const page = await console.open('/settings', { expected: /403/ });
    await enterKey(page, viewer.key);
    await page.getByRole('alert').filter({ hasText: 'admin' }).waitFor();
  });
});
