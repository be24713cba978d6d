// A server that has executed nothing, with the key that its first start has generated.
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole } from '../browser.ts';
import { enterKey } from '../traces.ts';
import { useServer } from '../use-server.ts';

describeInBrowser('the first hour', () => {
  const console = useConsole();
  const server = useServer({ env: { SVC_CONSOLE_VIEWER: 'on', SVC_BOOTSTRAP_API_KEY: '' } });

  it('Home shows how to talk to the first graph, and the figures after the first run', async () => {
    const page = await console.open('/', { url: server.url });
    const talk = page.getByRole('link', { name: 'Talk to agent' });
    await talk.waitFor();
    await expect.poll(() => page.locator('.tile, .finding').count()).toBe(0);
    const curl = page.getByRole('group', { name: 'curl' });
    await curl.getByText('"assistant_id":"agent"').waitFor();
    await page.getByRole('group', { name: 'Python' }).getByText('get_sync_client').waitFor();
    await page.getByRole('group', { name: 'TypeScript' }).getByRole('button', { name: /Copy/ }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
      'client.runs.wait(null, "agent"',
    );
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('heading', { name: 'There are no runs yet' }).waitFor();
    await expect.poll(() => page.getByRole('button', { name: /all runs/ }).count()).toBe(0);
    await page.goBack();
    await talk.focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Message', { exact: true }).fill('What is the weather in Oslo?');
    await page.keyboard.press('Enter');
    await page.getByText('The weather: snow, -3 °C.').waitFor();
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.locator('.tile').first().waitFor();
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    const graphs = page.getByLabel('Assistant', { exact: true }).getByRole('option');
    await expect
      .poll(() => graphs.allInnerTexts())
      .toEqual(['agent v1', 'approval v1', 'patient v1', 'nested v1', 'asking v1']);
  });

  it('Keys and Settings name the file of the key, and ask the server for nothing before', async () => {
    // The test fails when the browser reports a response with 403.
    const page = await console.open('/keys', { url: server.url });
    await page.getByRole('heading', { name: 'Keys need an API key' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'Settings need an API key' }).waitFor();
    const command = page.getByRole('button', { name: 'Copy the command that shows the key' });
    const [, file = ''] = /cat '(.*admin-key)'/.exec(await command.innerText()) ?? [];
    const key = (await readFile(file, 'utf8')).trim();
    await enterKey(page, key);
    await page.getByRole('row').filter({ hasText: 'SVC_CONSOLE_VIEWER' }).waitFor();
  });
});
