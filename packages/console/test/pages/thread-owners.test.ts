// Threads of several users, as somebody sees them who may read all of them.
import { createClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole } from '../browser.ts';
import { useServer } from '../use-server.ts';

describeInBrowser('the owners of threads', () => {
  const console = useConsole();
  const server = useServer({ project: 'users' });

  const create = async (user: string, topic: string) => {
    const client = createClient({ apiUrl: server.url, headers: { authorization: `Bearer ${user}` } });
    return (await client.threads.create({ metadata: { topic } })).thread_id;
  };

  it('filter the list by a click, beside the rest of the filter, and by the field', async () => {
    const [first, second, third] = [
      await create('alice', 'rain'),
      await create('alice', 'snow'),
      await create('bob', 'rain'),
    ];
    const page = await console.open('/threads?meta=topic:rain', { url: server.url, expected: /401/ });
    await page.getByLabel('Token', { exact: true }).fill('supervisor');
    await page.keyboard.press('Enter');
    const rowOf = (id: string) => page.getByRole('link', { name: `Thread ${id}` });
    await rowOf(third).waitFor();
    expect([await rowOf(first).count(), await rowOf(second).count()]).toEqual([1, 0]);
    await page.getByRole('link', { name: 'alice', exact: true }).click();
    await expect.poll(() => rowOf(third).count()).toBe(0);
    await expect.poll(() => rowOf(first).count()).toBe(1);
    const { pathname, searchParams } = new URL(page.url());
    expect([pathname, Object.fromEntries(searchParams)]).toEqual([
      '/console/threads',
      { owner: 'alice', meta: 'topic:rain' },
    ]);
    const field = page.getByLabel('Owner', { exact: true });
    await expect.poll(() => field.inputValue()).toBe('alice');
    await page.reload();
    await rowOf(first).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await field.fill('bob');
    await field.press('Enter');
    await rowOf(third).waitFor();
    await field.fill('');
    await field.press('Enter');
    await rowOf(first).waitFor();
    await expect.poll(() => rowOf(third).count()).toBe(1);
  });

  it('lead from the details of a thread to the threads of its owner', async () => {
    const [hers, his] = [await create('alice', 'details'), await create('bob', 'details')];
    const page = await console.open(`/threads/${hers}?tab=details`, { url: server.url, expected: /401/ });
    await page.getByLabel('Token', { exact: true }).fill('supervisor');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'alice', exact: true }).click();
    await page.getByRole('link', { name: `Thread ${hers}` }).waitFor();
    await expect.poll(() => page.getByRole('link', { name: `Thread ${his}` }).count()).toBe(0);
  });
});
