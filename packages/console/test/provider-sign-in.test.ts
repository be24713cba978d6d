// Signing in at the team's own OpenID Connect provider.
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startProvider, type TestProvider } from '../../server/test/console/provider.ts';
import { providerProject, type ProviderProject } from '../../server/test/console/provider-project.ts';
import { describeInBrowser, seriousFindings, useConsole, type Page } from './browser.ts';
import { startServerProcess, type ServerProcess } from './serve.ts';

/** A browser logs each response with an error, and the streams that the server closes because the session has ended. */
const expected = /401|ERR_INCOMPLETE_CHUNKED_ENCODING/;

describeInBrowser('a server with a provider', () => {
  const console = useConsole();
  let provider: TestProvider;
  let project: ProviderProject;
  let server: ServerProcess;
  beforeAll(async () => {
    provider = await startProvider();
    const patient = join(import.meta.dirname, 'project', 'patient.ts:patient');
    project = await providerProject(provider.issuer, { patient });
    server = await startServerProcess({ project: project.folder, env: { TEST_ISSUER: provider.issuer } });
    provider.register(`${server.url}/console/auth/oidc/callback`);
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    provider.user = 'alice';
  });

  const open = (path: string): Promise<Page> =>
    console.open(path, { url: server.url, expected, leadsTo: provider.issuer });
  const signIn = (page: Page) => page.getByRole('link', { name: 'Sign in at' });
  const account = (page: Page) => page.getByRole('button', { name: 'alice', exact: true });

  it('leads there and back to the page, and stores nothing that scripts can read', async () => {
    const page = await open('/threads?status=idle');
    await signIn(page).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await signIn(page).click();
    await page.getByRole('heading', { name: 'Threads' }).waitFor();
    await account(page).waitFor();
    expect(page.url()).toBe(`${server.url}/console/threads?status=idle`);
    expect(await page.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length])).toEqual([
      '',
      0,
      0,
    ]);
  });

  it('says why a sign-in has failed, and offers another', async () => {
    provider.user = 'guest';
    const page = await open('/threads');
    await signIn(page).click();
    await page.getByRole('alert').filter({ hasText: 'this server does not accept you' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    provider.user = 'alice';
    await page.context().clearCookies();
    await signIn(page).click();
    await account(page).waitFor();
  });

  it('keeps a page whose session has ended, and goes on when another tab has signed in', async () => {
    const page = await open('/threads');
    await signIn(page).click();
    await account(page).click();
    const elsewhere = await open('/threads');
    await signIn(elsewhere).click();
    await account(elsewhere).click();
    await elsewhere.getByRole('button', { name: 'Sign out everywhere' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    const [tab] = await Promise.all([page.waitForEvent('popup'), signIn(page).click()]);
    await account(tab).waitFor();
    await expect.poll(() => dialog.count()).toBe(0);
  });
});
