// Dialogs whose texts survive a reload of the page.
import { expect, it } from 'vitest';
import { describeInBrowser, useConsole } from '../browser.ts';

describeInBrowser('the drafts of dialogs', () => {
  const console = useConsole();

  it('of a new cron survive a reload, and end when the cron is created', async () => {
    const page = await console.open('/crons');
    const open = () => page.getByRole('button', { name: 'New cron…' }).click();
    const schedule = page.getByLabel(/^Schedule/);
    await open();
    await schedule.fill('0 9 1 1 *');
    await page.getByLabel('Input, as JSON').fill('{"messages": []}');
    await page.reload();
    await open();
    expect(await schedule.inputValue()).toBe('0 9 1 1 *');
    expect(await page.getByLabel('Input, as JSON').inputValue()).toBe('{"messages": []}');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.waitForURL(/crons\/./);
    const cronId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page.goBack();
    await open();
    expect(await schedule.inputValue()).toBe('');
    await console.client.crons.delete(cronId);
  });

  it('of an item of the store survive a reload, and end when another version is stored', async () => {
    const namespace = ['drafts'];
    await console.client.store.put(namespace, 'note', { text: 'first' });
    const page = await console.open('/store?prefix=drafts');
    const value = page.getByLabel('Value, as JSON');
    const open = () => page.getByRole('button', { name: 'Edit…' }).click();
    await page.getByRole('row').filter({ hasText: 'note' }).getByRole('link').first().click();
    await open();
    await value.fill('{"text": "half"}');
    await page.reload();
    await open();
    expect(await value.inputValue()).toBe('{"text": "half"}');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await open();
    await expect.poll(() => value.inputValue()).toContain('half');
    await page.keyboard.press('Escape');
    await console.client.store.delete(namespace, 'note');
  });
});
