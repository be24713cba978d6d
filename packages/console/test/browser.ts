// The browser of a worker, for all of its test files: it ends with the worker. A test fails when a page has logged an error or a violation
// of its policy, or has sent a request to another origin.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '@svc/sdk';
import axe from 'axe-core';
import { chromium, type Browser, type Locator, type Page } from 'playwright-core';
import { afterEach, describe, expect, inject } from 'vitest';
import { chromium as executablePath, whyNoBrowser } from '../../acceptance/clients/browser/availability.ts';
import { scaled } from '../../server/test/speed.ts';

export type { Page } from 'playwright-core';

/** Tests that need a browser: reported as not run where there is none. */
export const describeInBrowser = describe.skipIf(whyNoBrowser() !== undefined);

export interface OpenOptions {
  colorScheme?: 'light' | 'dark';
  /** Messages of the console that the test provokes, such as those of responses with an error. */
  expected?: RegExp;
  /** Another server than the one of the test run. */
  url?: string;
  viewport?: { width: number; height: number };
  /** The time of the page can be moved forward with `page.clock`, to the next poll. */
  hasClock?: boolean;
  /** The time zone of the browser, such as `Asia/Tokyo`. */
  timeZone?: string;
  /** Another origin to which the page may lead. It must not send requests there. */
  leadsTo?: string;
}

export interface Console {
  url: string;
  client: Client;
  /** Opens a page of the console in a context without cookies, stored values and routes. */
  open: (path: string, options?: OpenOptions) => Promise<Page>;
}

interface Worker {
  browser: Promise<Browser> | undefined;
  /** Left by a test: in a new context, a page takes twice the CPU time to load. */
  reusable: Page | undefined;
}

const worker: Worker = { browser: undefined, reusable: undefined };

/** Of a launch, and of each wait for a page. */
const timeout = scaled(30_000);

const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath, timeout, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

export const useConsole = (): Console => {
  const url = inject('serverUrl');
  const opened: { page: Page; isAltered: boolean }[] = [];
  const problems: string[] = [];
  afterEach(async ({ task }) => {
    const hasFailed = (task.result?.errors?.length ?? 0) > 0;
    const [failed] = hasFailed ? opened.flatMap(({ page }) => page.context().pages()) : [];
    await failed?.screenshot({ path: join(tmpdir(), `svc-console-failed-${task.id}.png`) });
    for (const { page, isAltered } of opened.splice(0))
      // A page keeps the clock that was installed, and its time zone.
      if (worker.reusable === undefined && !isAltered && (await reset(page))) worker.reusable = page;
      else await page.context().close();
    expect(problems.splice(0)).toEqual([]);
  });
  return {
    url,
    client: createClient({ apiUrl: url }),
    open: async (
      path,
      {
        colorScheme = 'light',
        expected,
        url: from = url,
        viewport,
        hasClock = false,
        timeZone,
        leadsTo,
      } = {},
    ) => {
      const browser = await (worker.browser ??= launch());
      const known = timeZone === undefined ? worker.reusable : undefined;
      const page = known ?? (await newPage(browser, timeZone));
      if (known) worker.reusable = undefined;
      opened.push({ page, isAltered: hasClock || timeZone !== undefined });
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(viewport ?? { width: 1440, height: 860 });
      if (hasClock) await page.clock.install();
      report(page, { origin: from, leadsTo, expected, problems });
      await page.goto(`${from}/console${path}`);
      return page;
    },
  };
};

const newPage = async (browser: Browser, timezoneId: string | undefined): Promise<Page> => {
  const context = await browser.newContext({
    permissions: ['clipboard-read', 'clipboard-write'],
    ...(timezoneId === undefined ? {} : { timezoneId }),
  });
  context.setDefaultTimeout(timeout);
  return context.newPage();
};

/** Removes what a test has left in a page. False if the page cannot be used again. */
const reset = async (page: Page): Promise<boolean> => {
  const context = page.context();
  if (page.isClosed() || context.pages().length > 1) return false;
  page.removeAllListeners();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.evaluate(() => sessionStorage.clear());
  // The page would go on: with requests to a server that has ended, or without the cookie of its session.
  await page.goto('about:blank');
  await context.clearCookies();
  return true;
};

const report = (
  page: Page,
  {
    origin,
    leadsTo,
    expected,
    problems,
  }: { origin: string; leadsTo: string | undefined; expected: RegExp | undefined; problems: string[] },
): void => {
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && expected?.test(message.text()) !== true)
      problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.message}`));
  page.on('dialog', (dialog) => problems.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    const url = request.url();
    const isLed = leadsTo !== undefined && request.isNavigationRequest() && url.startsWith(leadsTo);
    if (!url.startsWith(origin) && !url.startsWith('data:') && !isLed)
      problems.push(`request to another origin: ${url}`);
  });
};

/** What has the focus, as a screen reader names it: its label, its text, or its id. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    const label = element.getAttribute('aria-label');
    return label ?? (element.tagName === 'BUTTON' ? element.innerText : element.id || element.tagName);
  });

/** Moves the clock of a page with `hasClock` from poll to poll, until it shows `what`. */
export const shownByAPoll = async (page: Page, what: Locator): Promise<void> => {
  const isShown = async (): Promise<boolean> => {
    if (await what.isVisible()) return true;
    await page.clock.fastForward(10_000);
    return false;
  };
  await expect.poll(isShown, { interval: 200 }).toBe(true);
};

/** Findings that keep people from using the page. `rules`: ids of rules; all when absent. */
export const seriousFindings = async (page: Page, rules?: string[]): Promise<string[]> => {
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(axe.source);
  const only: axe.RunOptions = rules === undefined ? {} : { runOnly: rules };
  const options: axe.RunOptions = { ...only, resultTypes: ['violations'] };
  const { violations } = await page.evaluate(
    (given) =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(document, given) as Promise<axe.AxeResults>,
    options,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
};
