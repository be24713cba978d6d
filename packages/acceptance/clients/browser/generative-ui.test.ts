// `LoadExternalComponent` of @langchain/langgraph-sdk/react-ui: components that a graph sends to a page.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../../server/test/eventually.ts';
import { bearer, tokens } from '../../deployment.ts';
import { describeInBrowser, openPage, type Page } from './browser.ts';
import { servePage } from './chat-site.ts';
import { Scene } from './scene.ts';

const open = async ({ browser, site, node }: Scene): Promise<Page> => {
  const page = await openPage(browser);
  await page.goto(`${site.url}?${new URLSearchParams({ api: node.url, token: tokens.ann })}`);
  return page;
};

/** Starts a run that has sent its component, and waits at the gate before it completes it. */
const start = async (page: Page, { deployment }: Scene) => {
  const gate = deployment.gate();
  await page.getByLabel('Gate').fill(gate.name);
  await page.getByRole('button', { name: 'Send' }).click();
  return gate;
};

const forecast = (page: Page) => page.getByRole('article');

const shows = (page: Page, text: string): Promise<void> =>
  eventually(async () => expect(await forecast(page).innerText()).toContain(text));

describeInBrowser('a page with LoadExternalComponent', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open(() => servePage('generative'), { config: 'generative-ui.json' });
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  it('shows a component that a running graph has sent, and the props that the graph changes', async () => {
    const page = await open(scene);
    const gate = await start(page, scene);
    await shows(page, 'Oslo: measuring');
    await gate.open();
    await shows(page, 'Oslo: 21 °C');
    await page.context().close();
  });

  it('shows the component of a run that has ended after a reload', async () => {
    const page = await open(scene);
    await (await start(page, scene)).open();
    await shows(page, 'Oslo: 21 °C');
    await page.locator('main[data-loading=false]').waitFor();
    await page.reload();
    await shows(page, 'Oslo: 21 °C');
    await page.context().close();
  });

  it('shares its React with the component', async () => {
    const page = await open(scene);
    await (await start(page, scene)).open();
    await shows(page, 'Oslo: 21 °C');
    await forecast(page).getByRole('button', { name: 'in Fahrenheit' }).click();
    await shows(page, 'Oslo: 69.8 °F');
    await page.context().close();
  });

  it('applies the style sheet of the component to the component only', async () => {
    const page = await open(scene);
    await start(page, scene);
    await shows(page, 'Oslo');
    const color = (selector: string): Promise<string> =>
      page.locator(selector).evaluate((element) => getComputedStyle(element).color);
    await eventually(async () => expect(await color('article')).toBe('rgb(0, 128, 128)'));
    await page.evaluate(() => {
      document.body.appendChild(document.createElement('aside')).className = 'forecast';
    });
    expect(await color('aside')).toBe('rgb(0, 0, 0)');
    await page.context().close();
  });
});

describeInBrowser('a page with LoadExternalComponent, with http.enable_ui_auth', () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open(() => servePage('generative'), { config: 'private-ui.json' });
  });
  afterAll(() => scene?.[Symbol.asyncDispose]());

  /** Whether the page could load each file that it has requested from `/ui`. */
  const recordFiles = (page: Page): Record<string, boolean> => {
    const files: Record<string, boolean> = {};
    const record = (url: string, isLoaded: boolean): void => {
      const { pathname } = new URL(url);
      if (pathname.startsWith('/ui/forecast/')) files[pathname] = isLoaded;
    };
    page.on('response', (response) => record(response.url(), response.ok()));
    // Chromium hides the response to a script or style sheet of another origin that is JSON, as a 401 is.
    page.on('requestfailed', (request) => record(request.url(), false));
    return files;
  };

  it('shows the component when a cookie has the credentials', async () => {
    const page = await open(scene);
    await page.context().addCookies([{ name: 'token', value: tokens.ann, url: scene.node.url }]);
    const files = recordFiles(page);
    await start(page, scene);
    await shows(page, 'Oslo: measuring');
    await eventually(() =>
      expect(files).toEqual({ '/ui/forecast/entrypoint.js': true, '/ui/forecast/entrypoint.css': true }),
    );
    await page.context().close();
  });

  it('gets no file of the component without credentials', async () => {
    const page = await open(scene);
    const files = recordFiles(page);
    await start(page, scene);
    await eventually(() =>
      expect(files).toEqual({ '/ui/forecast/entrypoint.js': false, '/ui/forecast/entrypoint.css': false }),
    );
    expect(await page.locator('main').innerText()).toContain('loading');
    expect(await forecast(page).count()).toBe(0);
    await page.context().close();
  });

  it.each(['entrypoint.js', 'entrypoint.css'])('the server refuses %s without credentials', async (name) => {
    const file = `${scene.node.url}/ui/forecast/${name}`;
    expect((await fetch(file)).status).toBe(401);
    expect((await fetch(file, { headers: bearer() })).status).toBe(200);
  });
});
