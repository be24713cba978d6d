// Signing in with API keys and with custom authentication, and sessions that end while a page is in use.
import { createClient } from '@svc/sdk';
import { expect, it } from 'vitest';
import { describeInBrowser, seriousFindings, useConsole, type Page } from './browser.ts';
import { closedGate } from './conversations.ts';
import { traceKey } from './serve.ts';
import { enterKey } from './traces.ts';
import { useServer } from './use-server.ts';

const apiKey = `svc-console-tests-${'a'.repeat(32)}`;
/** A browser logs each response with an error, and the streams that the server closes because the session has ended. */
const expected = /401|ERR_INCOMPLETE_CHUNKED_ENCODING/;

const signIn = async (page: Page, label: string, text: string): Promise<void> => {
  await page.getByLabel(label, { exact: true }).fill(text);
  await page.keyboard.press('Enter');
};

const signInForm = (page: Page) => page.getByRole('heading', { name: 'Sign in' });
const account = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** What scripts of the page can read that outlives it. */
const stored = (page: Page) =>
  page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length, location.href].join(' '));

describeInBrowser('a server with API keys', () => {
  const console = useConsole();
  const server = useServer({ env: { SVC_API_KEY: apiKey } });

  it('asks for a key, keeps the page, and stores nothing that scripts can read', async () => {
    const { url } = server;
    const page = await console.open('/threads?status=idle', { url, expected });
    await signInForm(page).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await signIn(page, 'Key', 'not a key');
    await page.getByRole('alert').filter({ hasText: 'opens neither' }).waitFor();
    await signIn(page, 'Key', apiKey);
    await page.getByRole('heading', { name: 'Threads' }).waitFor();
    expect(await stored(page)).toBe(` 0 0 ${url}/console/threads?status=idle`);
    await page.reload();
    await page.getByRole('heading', { name: 'Threads' }).waitFor();
    await account(page, 'Account').click();
    const dialog = page.getByRole('dialog', { name: 'Account' });
    await dialog.getByText('open with an API key').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Sign out', exact: true }).click();
    await signInForm(page).waitFor();
    await page.reload();
    await signInForm(page).waitFor();
  });

  it('says that a key opens only a workspace, and takes a second key for the rest', async () => {
    const page = await console.open('/runs', { url: server.url, expected });
    await signIn(page, 'Key', traceKey);
    await page.getByRole('status').filter({ hasText: 'traces of a workspace' }).waitFor();
    await page.getByRole('link', { name: 'Traces' }).click();
    await page.getByRole('heading', { name: 'There are no traces yet' }).waitFor();
    await page.getByRole('link', { name: 'Runs' }).click();
    await signIn(page, 'Key', apiKey);
    await page.getByRole('heading', { name: 'There are no runs yet' }).waitFor();
    await page.getByRole('link', { name: 'Traces' }).click();
    await page.getByRole('heading', { name: 'There are no traces yet' }).waitFor();
  });

  it('asks for the key of a workspace on the page of traces, and keeps the session', async () => {
    const page = await console.open('/traces', { url: server.url, expected });
    await signIn(page, 'Key', apiKey);
    await page.getByRole('heading', { name: 'Traces need an API key' }).waitFor();
    await enterKey(page);
    await page.getByRole('heading', { name: 'There are no traces yet' }).waitFor();
    await page.getByRole('link', { name: 'Threads' }).click();
    await page.getByRole('heading', { name: 'There are no threads yet' }).waitFor();
    await account(page, 'Account').click();
    await page
      .getByRole('definition')
      .filter({ hasText: /^default as admin$/i })
      .waitFor();
  });

  it('ends the session of one other browser', async () => {
    const { url } = server;
    const there = await console.open('/threads', { url, expected });
    await signIn(there, 'Key', apiKey);
    await there.getByRole('heading', { name: 'Threads', level: 1 }).waitFor();
    const here = await console.open('/threads', { url, expected });
    await signIn(here, 'Key', apiKey);
    await account(here, 'Account').click();
    const sessions = here.getByRole('region', { name: 'Sessions' });
    // Sessions are listed by their last request, newest first.
    await sessions.getByRole('button', { name: 'End the session of Chrome on Linux' }).first().click();
    await there.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await sessions.getByText('(this browser)').waitFor();
  });

  it('ends the sessions of all browsers', async () => {
    const { url } = server;
    const [here, there] = [
      await console.open('/threads', { url, expected }),
      await console.open('/threads', { url, expected }),
    ];
    for (const page of [here, there]) {
      await signIn(page, 'Key', apiKey);
      await page.getByRole('heading', { name: 'Threads', level: 1 }).waitFor();
    }
    await account(here, 'Account').click();
    const sessions = here.getByRole('region', { name: 'Sessions' });
    await sessions.getByText('(this browser)').waitFor();
    expect(await seriousFindings(here)).toEqual([]);
    await here.getByRole('button', { name: 'Sign out everywhere' }).click();
    await signInForm(here).waitFor();
    await there.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
  });
});

describeInBrowser('a server with custom authentication', () => {
  const console = useConsole();
  const server = useServer({ project: 'users' });

  it('shows each user their own threads', async () => {
    const { url } = server;
    const client = createClient({ apiUrl: url, headers: { authorization: 'Bearer alice' } });
    const { thread_id: id } = await client.threads.create();
    const [alice, bob] = [
      await console.open('/threads', { url, expected }),
      await console.open('/threads', { url, expected }),
    ];
    await signIn(alice, 'Token', 'alice');
    await account(alice, 'alice').waitFor();
    await alice
      .getByRole('link', { name: id.slice(0, 8) })
      .first()
      .waitFor();
    await signIn(bob, 'Token', 'not-a-name!');
    await bob.getByRole('alert').filter({ hasText: 'Who are you?' }).waitFor();
    await signIn(bob, 'Token', 'bob');
    await account(bob, 'bob').waitFor();
    await bob.getByRole('heading', { name: 'There are no threads yet' }).waitFor();
  });

  it('asks again when the session ends in mid-stream, and the stream goes on', async () => {
    const { url } = server;
    await using gate = closedGate();
    const page = await console.open('/playground?assistant=patient', { url, expected });
    await signIn(page, 'Token', 'alice');
    const words = `one two ${gate.word} three four`;
    await page.getByLabel('Message', { exact: true }).fill(words);
    await page.keyboard.press('Enter');
    await page.getByText('one two', { exact: true }).waitFor();
    const elsewhere = await console.open('/threads', { url, expected });
    await signIn(elsewhere, 'Token', 'alice');
    await account(elsewhere, 'alice').click();
    await elsewhere.getByRole('button', { name: 'Sign out everywhere' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByText('one two', { exact: true }).waitFor();
    await gate.open();
    await signIn(page, 'Token', 'alice');
    await expect.poll(() => dialog.count()).toBe(0);
    await page.locator('.badge', { hasText: 'success' }).first().waitFor();
    await expect.poll(() => page.getByText(words, { exact: true }).count()).toBe(2);
  });

  it('loads the page again when another user signs in', async () => {
    const { url } = server;
    const page = await console.open('/threads', { url, expected });
    await signIn(page, 'Token', 'alice');
    await account(page, 'alice').waitFor();
    const elsewhere = await console.open('/threads', { url, expected });
    await signIn(elsewhere, 'Token', 'alice');
    await account(elsewhere, 'alice').click();
    await elsewhere.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await signIn(page, 'Token', 'bob');
    await account(page, 'bob').waitFor();
    await page.getByRole('heading', { name: 'There are no threads yet' }).waitFor();
  });
});
