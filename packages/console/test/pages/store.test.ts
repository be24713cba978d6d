import { expect, it } from 'vitest';
import { describeInBrowser, useConsole } from '../browser.ts';

describeInBrowser('the store', () => {
  const console = useConsole();

  it('is walked along its namespaces, and found by a prefix in the address', async () => {
    const { store } = console.client;
    await store.put(['walk', 'ada'], 'food', { likes: 'apples' });
    await store.put(['walk', 'ada', 'notes'], 'first', { text: 'mathematics' });
    await store.put(['walk', 'grace'], 'food', { likes: 'bread' });
    const page = await console.open('/store');
    const tree = page.getByRole('navigation', { name: 'Namespaces' });
    await tree.getByRole('button', { name: 'Namespaces below walk' }).click();
    await tree.getByRole('link', { name: 'ada' }).click();
    await page.getByRole('cell', { name: 'walk.ada.notes', exact: true }).waitFor();
    await expect.poll(() => page.getByRole('row').count()).toBe(3);
    expect(new URL(page.url()).searchParams.get('prefix')).toBe('walk.ada');
    await page.reload();
    await page.getByRole('cell', { name: 'walk.ada.notes', exact: true }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('.notes');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await page.getByLabel(/^Namespace prefix/).blur();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Item' }).getByText('mathematics').waitFor();
    await page.goto(`${console.url}/console/store?prefix=walk.nobody`);
    await page.getByRole('heading', { name: 'No item is in this namespace' }).waitFor();
  });

  it('says which label of a prefix is not valid', async () => {
    const page = await console.open('/store?prefix=walk..ada', { expected: /422/ });
    await page.getByRole('heading', { name: 'The server does not accept this request' }).waitFor();
    await page
      .getByText(/namespace_prefix/)
      .first()
      .waitFor();
  });

  it('keeps the address while a label of the prefix in the field is empty', async () => {
    const page = await console.open('/store?prefix=walk');
    const field = page.getByLabel('Namespace prefix, labels separated by dots');
    await field.fill('walk..ada');
    await field.press('Enter');
    await page.getByRole('alert').getByText('A label is empty').waitFor();
    expect(new URL(page.url()).searchParams.get('prefix')).toBe('walk');
    await field.fill('walk.ada');
    await field.press('Enter');
    await page.waitForURL(/prefix=walk\.ada/);
  });
});

describeInBrowser('an item', () => {
  const console = useConsole();
  const namespace = ['edited'];

  it('is changed, except when somebody else has changed it meanwhile', async () => {
    const { store } = console.client;
    await store.put(namespace, 'a key', { count: 1 });
    const page = await console.open('/store?ns=edited&key=a+key');
    await page.getByRole('button', { name: 'Edit…' }).click();
    const field = page.getByLabel('Value, as JSON');
    await field.fill('[1]');
    await page.getByText('The value must be an object.').waitFor();
    await field.fill('{ "count": 9007199254740993 }');
    await page.getByText('9007199254740993 would be rounded: write it as a text.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await field.fill('{ "count": 2 }');
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect((await store.get(namespace, 'a key'))?.value).toEqual({ count: 2 });
    await page.getByRole('button', { name: 'Edit…' }).click();
    await field.fill('{ "count": 3 }');
    await store.put(namespace, 'a key', { count: 'theirs' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Somebody has changed the item meanwhile.').waitFor();
    expect((await store.get(namespace, 'a key'))?.value).toEqual({ count: 'theirs' });
    await page.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect((await store.get(namespace, 'a key'))?.value).toEqual({ count: 3 });
  });

  it('is deleted after a question', async () => {
    const { store } = console.client;
    await store.put(namespace, 'gone', { count: 1 });
    const page = await console.open('/store?prefix=edited&ns=edited&key=gone');
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the item' }).click();
    await page.getByRole('region', { name: 'Items' }).waitFor();
    expect(await store.get(namespace, 'gone')).toBeNull();
    await page.goto(`${console.url}/console/store?ns=edited&key=gone`);
    await page.getByRole('heading', { name: 'There is no such item' }).waitFor();
  });
});
