import { expect, it } from 'vitest';
import { describeInBrowser, shownByAPoll, useConsole } from './browser.ts';
import { run, says } from './conversations.ts';
import { startServerProcess } from './serve.ts';
import { until } from '../../server/test/eventually.ts';
import { scaled } from '../../server/test/speed.ts';

describeInBrowser('every page', () => {
  const console = useConsole();

  it('is opened from the root of the server', async () => {
    const page = await console.open('/');
    await page.goto(console.url);
    await page.waitForURL('**/console');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
  });

  it('that needs an API key names the data folder in the command that creates one', async () => {
    const page = await console.open('/exports');
    const command = (role: string) => `npx svc keys create --role ${role} --data-dir DATA_FOLDER`;
    await page.getByText(command('viewer')).waitFor();
    await page.getByText('the log of the server names its data folder when it starts').waitFor();
    await page.getByRole('button', { name: 'Copy the command' }).click();
    await page.getByRole('button', { name: 'Copied the command' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(command('viewer'));
    for (const path of ['/keys', '/exports/new', '/destinations/new']) {
      await page.goto(`${console.url}/console${path}`);
      await page.getByText(command('admin')).waitFor();
    }
    await page.getByText('Creating them needs a key with the role admin.').waitFor();
  });

  it('is reached by the keyboard alone', async () => {
    const { threadId, runId } = await run(console.client, 'agent', says('hello'));
    const page = await console.open('/');
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    for (const [key, name] of [
      ['t', 'Threads'],
      ['r', 'Runs'],
      ['e', 'Traces need an API key'],
      ['x', 'Exports need an API key'],
      ['a', 'Assistants'],
      ['c', 'Crons'],
      ['d', 'Webhooks'],
      ['b', 'Jobs'],
      ['s', 'Store'],
      ['w', 'Keys need an API key'],
      ['i', 'Inbox'],
      ['p', 'Playground'],
    ] as const) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.getByRole('heading', { name, exact: true }).waitFor();
    }
    await page.keyboard.press('Control+k');
    await page.keyboard.type(threadId);
    await page.getByRole('option', { name: threadId }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/threads/${threadId}`);
    await page.keyboard.press('Control+k');
    await page.keyboard.type(runId);
    await page.getByRole('option', { name: `${runId} run` }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/runs/${runId}?thread=${threadId}`);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  it('has the colours that the person chooses, also after a reload', async () => {
    const page = await console.open('/');
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.getByLabel('Colours').selectOption('dark');
    await expect.poll(background).not.toBe(light);
    await page.reload();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    expect(await background()).not.toBe(light);
    await page.getByLabel('Colours').selectOption('system');
    await expect.poll(background).toBe(light);
  });

  it('names the object of a page first in the title of its tab', async () => {
    const { threadId } = await run(console.client, 'agent', says('hello'));
    const page = await console.open(`/threads/${threadId}`);
    await expect
      .poll(() => page.title())
      .toMatch(new RegExp(`^(\\(\\d+\\) )?${threadId.slice(0, 8)} · Threads · svc console$`));
  });

  it('keeps single letters for text while a field has the focus', async () => {
    const page = await console.open('/playground?assistant=agent');
    await page.getByLabel('Message', { exact: true }).fill('');
    await page.keyboard.type('g r ?');
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('g r ?');
    expect(new URL(page.url()).pathname).toBe('/console/playground');
  });

  it('has an entry in the rail, destinations that of the exports', async () => {
    const page = await console.open('/destinations/new');
    const current = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current=page]');
    await expect.poll(() => current.allInnerTexts()).toEqual(['Exports']);
    // Threads of other tests may wait for a person.
    await expect.poll(() => page.title()).toMatch(/^(?:\(\d+\) )?Exports · svc console$/);
    for (const [path, label] of [
      ['/destinations', 'Exports'],
      ['/exports/new', 'Exports'],
      ['/', 'Home'],
    ] as const) {
      await page.goto(`${console.url}/console${path}`);
      await expect.poll(() => current.allInnerTexts()).toEqual([label]);
    }
  });

  it('has a menu on a narrow screen', async () => {
    const page = await console.open('/runs', { viewport: { width: 390, height: 800 } });
    await expect
      .poll(() => page.getByRole('button', { name: /^Search/ }).innerText())
      .not.toContain('or paste an id');
    const link = page.getByRole('link', { name: 'Threads' });
    await expect.poll(() => link.count()).toBe(0);
    await page.getByRole('button', { name: 'Menu' }).click();
    await link.click();
    await page.getByRole('heading', { name: 'Threads' }).waitFor();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBe(0);
  });

  it('that does not exist says so', async () => {
    const page = await console.open('/nowhere');
    await page.getByRole('heading', { name: 'The console has no such page' }).waitFor();
  });

  it.each([
    ['/threads/nothing', 'thread', '/threads'],
    ['/runs/nothing', 'run', '/runs'],
    ['/runs/00000000-0000-4000-8000-00000000000?thread=nothing', 'run', '/runs'],
    ['/traces/search', 'trace', '/traces'],
    ['/exports/destinations', 'export', '/exports'],
    ['/destinations/a%20b', 'destination', '/destinations'],
    ['/crons/search', 'cron', '/crons'],
    ['/crons/00000000-0000-4000-8000-000000000000', 'cron', '/crons'],
    ['/threads/00000000-0000-4000-8000-000000000000', 'thread', '/threads'],
    ['/assistants/search', 'assistant', '/assistants'],
    ['/assistants/a%20b%3Fc', 'assistant', '/assistants'],
  ])('%s has no %s and leads to the list', async (path, noun, list) => {
    const page = await console.open(path, { expected: /404/ });
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.getByText(`There is no ${noun} with the id`).waitFor();
    await page.getByRole('link', { name: `All ${noun}s` }).click();
    await page.waitForURL(`${console.url}/console${list}`);
  });

  it('ignores odd values in the query string', async () => {
    const page = await console.open('/');
    const { thread_id: threadId } = await console.client.threads.create();
    const { assistant_id: assistantId } = await console.client.assistants.get('agent');
    for (const path of [
      `/threads/${threadId}?tab=nothing&checkpoint=nothing&view=nothing`,
      `/assistants/${assistantId}?v=nothing&w=-1`,
      '/threads?page=nothing&status=nothing&meta=nothing&sort=nothing',
      '/runs?status=nothing&from=nothing&to=nothing&thread=nothing&since=nothing',
      '/webhooks?status=nothing&sel=nothing',
      '/store?prefix=nothing&ns=nothing&key=nothing&page=-1',
      '/crons?assistant=nothing&page=0',
      '/inbox?show=nothing&sel=nothing',
      '/playground?assistant=nothing&thread=nothing&run=nothing',
      '/traces/compare?left=nothing&right=nothing',
      '/keys?tab=nothing',
    ]) {
      await page.goto(`${console.url}/console${path}`);
      await page.locator('#content h1, #content h2').first().waitFor();
      expect({
        path,
        failed: await page
          .getByRole('heading', {
            name: /This page has failed|The server reports an error|The server does not accept this request/,
          })
          .count(),
      }).toEqual({ path, failed: 0 });
    }
  });

  it('says what a caller without the permission gets', async () => {
    const page = await console.open('/', { expected: /403/ });
    const body = JSON.stringify({ detail: 'No access to threads.', message: 'No access to threads.' });
    await page.route('**/threads/search', (route) => route.fulfill({ status: 403, body }));
    await page.goto(`${console.url}/console/threads`);
    await page.getByRole('heading', { name: 'Not permitted' }).waitFor();
    await page.getByText('No access to threads.').waitFor();
  });

  it('says when the server is away, and goes on when it is back', { timeout: scaled(240_000) }, async () => {
    await using server = await startServerProcess();
    const page = await console.open('/runs', {
      url: server.url,
      hasClock: true,
      expected: /Failed to load|ERR_/,
    });
    await page.getByRole('heading', { name: 'There are no runs yet' }).waitFor();
    await server.stop();
    await shownByAPoll(page, page.getByRole('status').filter({ hasText: 'server away' }));
    await page.getByRole('heading', { name: 'There are no runs yet' }).waitFor();
    const failed: string[] = [];
    const open = new Set<object>();
    page.on('request', (request) => open.add(request));
    page.on('requestfailed', (request) => {
      open.delete(request);
      failed.push(new URL(request.url()).pathname);
    });
    for (let second = 0; second < 20; second++) {
      await page.clock.runFor(1_000);
      await until(() => open.size === 0);
    }
    // One probe at a time, with growing pauses, and no other request.
    expect([...new Set(failed)]).toEqual(['/ok']);
    expect(failed.length).toBeLessThan(8);
    await server.start();
    await shownByAPoll(page, page.getByRole('status').filter({ hasText: 'live' }));
  });
});
