import { expect, it } from 'vitest';
import { describeInBrowser, useConsole } from '../browser.ts';

describeInBrowser('the assistants', () => {
  const console = useConsole();

  it('are found by the filter in the address', async () => {
    const name = 'Found by its name';
    const { assistant_id: id } = await console.client.assistants.create({ graph_id: 'agent', name });
    const page = await console.open('/assistants?q=found+by');
    const rows = page.getByRole('row');
    await page.getByRole('link', { name }).waitFor();
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel('Graph').selectOption('patient');
    await page.getByRole('heading', { name: 'No assistant matches the filter' }).waitFor();
    await page.getByLabel('Graph').selectOption('agent');
    await page.getByRole('link', { name }).waitFor();
    await page.getByLabel('Graph').blur();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/assistants/${id}`);
  });
});

describeInBrowser('an assistant', () => {
  const console = useConsole();

  it('shows what its versions have changed, and gets another current version', async () => {
    const { assistants } = console.client;
    const configOf = (style: string) => ({ configurable: { style } });
    const body = { graph_id: 'agent', name: 'Styled', config: configOf('plain') };
    const { assistant_id: id } = await assistants.create(body);
    await assistants.update(id, { config: configOf('terse') });
    await assistants.update(id, { config: configOf('verbose'), name: 'Styled again' });
    const page = await console.open(`/assistants/${id}`);
    const change = page.getByRole('region', { name: 'changed config.configurable.style' });
    await change.getByText('terse').waitFor();
    await change.getByText('verbose').waitFor();
    await page.getByLabel('Changes since').selectOption('version 1');
    await change.getByText('plain').waitFor();
    expect(new URL(page.url()).search).toBe('?v=3&w=1');
    await page.reload();
    await change.getByText('plain').waitFor();
    await page.getByRole('link', { name: 'Version 2' }).click();
    await page.getByRole('button', { name: 'Make current…' }).click();
    await page.getByRole('button', { name: 'Make version 2 current' }).click();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(await assistants.get(id)).toMatchObject({ version: 2, config: configOf('terse') });
    await page.getByRole('region', { name: 'Version 2' }).locator('.badge', { hasText: 'current' }).waitFor();
  });

  it('that does not exist is said to be missing', async () => {
    const page = await console.open('/assistants/00000000-0000-4000-8000-000000000000', { expected: /404/ });
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
  });
});
