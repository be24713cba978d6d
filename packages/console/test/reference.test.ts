// The API reference that the server has at /docs.
import { expect, it } from 'vitest';
import { describeInBrowser, useConsole } from './browser.ts';

describeInBrowser('the API reference', () => {
  const console = useConsole();

  it('lists the operations of this server, and sends a request of one', async () => {
    const page = await console.open('/');
    await expect
      .poll(() => page.getByRole('link', { name: 'API reference' }).getAttribute('href'))
      .toBe(`${console.url}/docs`);
    await page.goto(`${console.url}/docs`);
    await page.getByRole('heading', { name: 'System' }).click();
    await page.getByText('/info', { exact: true }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText('svc_version').first().waitFor();
  });
});
