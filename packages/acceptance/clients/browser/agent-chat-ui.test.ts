// Agent Chat UI, from its npm template. It sends its key as x-api-key. Its SDK does not join a run again after a reload.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../../server/test/eventually.ts';
import { tokens } from '../../deployment.ts';
import { serveAgentChatUi } from './agent-chat-ui-site.ts';
import { describeInBrowser, openPage, type Page } from './browser.ts';
import { Scene } from './scene.ts';

describeInBrowser('Agent Chat UI', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open(serveAgentChatUi);
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  const open = async (token: string = tokens.ann, apiUrl = scene.node.url): Promise<Page> => {
    const page = await openPage(scene.browser);
    await page.addInitScript((key) => localStorage.setItem('lg:chat:apiKey', key), token);
    await page.goto(`${scene.site.url}?${new URLSearchParams({ apiUrl, assistantId: 'agent' })}`);
    return page;
  };

  const send = async (page: Page, text: string): Promise<void> => {
    await page.getByPlaceholder('Type your message...').fill(text);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
  };

  /** Waits for texts on the page, in this order. */
  const shows = (page: Page, ...texts: string[]): Promise<void> =>
    eventually(async () => {
      const body = await page.locator('body').innerText();
      expect(body).toMatch(new RegExp(texts.join('[^]*')));
    });

  const isIdle = (page: Page): Promise<void> =>
    page.getByRole('button', { name: 'Send', exact: true }).waitFor();

  const threadOf = (page: Page): string => new URL(page.url()).searchParams.get('threadId')!;

  it('chats, and shows the conversation after a reload', async () => {
    const page = await open();
    await send(page, 'hello');
    await shows(page, 'hello', 'You said: hello');
    await isIdle(page);
    await send(page, 'again');
    await shows(page, 'hello', 'You said: hello', 'again', 'You said: again');
    await page.reload();
    await shows(page, 'hello', 'You said: hello', 'again', 'You said: again');
    await page.context().close();
  });

  it('lists the threads of its user', async () => {
    const begin = async (token: string | undefined, text: string): Promise<Page> => {
      const page = await open(token);
      await send(page, text);
      await shows(page, `You said: ${text}`);
      await isIdle(page);
      await page.reload();
      return page;
    };
    const entry = (of: Page, thread: Page) => of.getByRole('button', { name: threadOf(thread) });
    const page = await begin(tokens.ben, 'only for Ben');
    const foreign = await begin(undefined, 'not for Ben');
    await entry(page, page).waitFor();
    await entry(foreign, foreign).waitFor();
    expect(await entry(foreign, page).count()).toBe(0);
    await foreign.context().close();
    await page.context().close();
  });

  it('shows a tool call and its result', async () => {
    const page = await open();
    await send(page, 'weather?');
    await shows(page, 'weather', 'Oslo', 'snow in Oslo', 'It is snow in Oslo');
    await page.context().close();
  });

  it('asks a person and goes on with the answer', async () => {
    const page = await open();
    await send(page, 'a letter');
    await page.getByRole('button', { name: 'Accept' }).click();
    await shows(page, 'The letter is sent');
    await page.context().close();
  });

  /** A page in the middle of an answer. */
  const openMidStream = async (apiUrl?: string) => {
    const gate = scene.deployment.gate();
    const page = await open(tokens.ann, apiUrl);
    await send(page, `count ${gate.name}`);
    await shows(page, gate.name, 'one two three');
    return { page, gate };
  };

  /** Waits until the only run of the page's thread has this status. */
  const untilRun = (page: Page, status: string): Promise<void> =>
    eventually(async () => expect(await scene.runsOf(threadOf(page))).toMatchObject([{ status }]));

  it('ends an answer with a reload, and answers the next message', async () => {
    const { page, gate } = await openMidStream();
    await page.reload(); // this SDK has its runs cancelled when the page closes
    await untilRun(page, 'interrupted');
    await shows(page, gate.name);
    await send(page, 'hello');
    await shows(page, gate.name, 'You said: hello');
    await page.context().close();
  });

  it('cancels an answer', async () => {
    const { page } = await openMidStream();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await untilRun(page, 'interrupted');
    await page.context().close();
  });

  it('shows the whole answer after the server was killed in the middle of it', async () => {
    const { page, gate } = await openMidStream();
    await scene.restart();
    await gate.open();
    await untilRun(page, 'success');
    await page.reload();
    await shows(page, gate.name, 'one two three four five six');
    await page.context().close();
  });

  it('streams an answer that another node executes, and shows it at that node', async () => {
    const api = await scene.deployment.start({ role: 'api' });
    const { page, gate } = await openMidStream(api.url);
    await gate.open();
    const whole = 'one two three four five six';
    await shows(page, gate.name, whole);
    await isIdle(page);
    const address = new URL(page.url());
    address.searchParams.set('apiUrl', scene.node.url);
    await page.goto(address.href);
    await shows(page, gate.name, whole);
    await send(page, 'hello');
    await shows(page, gate.name, whole, 'You said: hello');
    await page.context().close();
  });
});
