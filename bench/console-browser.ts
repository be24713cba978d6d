// Tabs of a headless Chromium that measure: times by the clock of the page, and bytes as the network has delivered them.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import {
  chromium as executablePath,
  whyNoBrowser,
} from '../packages/acceptance/clients/browser/availability.ts';

/** What a page has to contain. Without `count` and `above`, one element that matches is enough. */
export interface Shown {
  selector: string;
  /** Text of the element. */
  text?: string;
  /** The whole text of the h1. */
  heading?: string;
  /** Exactly this number of elements. */
  count?: number;
  /** More elements than this number. */
  above?: number;
}

interface Probe {
  whenShown(shown: Shown, limitMs: number): Promise<number | undefined>;
  arm(shown: Shown, limitMs: number): void;
  result(): Promise<Measurement | undefined>;
  record(selector: string): void;
  stop(): Frames;
}

declare const svcProbe: Probe;

export interface Measurement {
  ms: number;
  /** The longest task of the page in this time, at least 50 ms; 0 without one. */
  longestTaskMs: number;
}

export interface Frames {
  /** Milliseconds between two frames. */
  deltas: number[];
  /** Elements in the page at most. */
  most: number;
  /** How often something has scrolled. */
  scrolls: number;
}

export interface Received {
  /** Bytes of the document, scripts, styles and images, and how many requests reached the server for them. */
  code: number;
  codeRequests: number;
  /** Bytes of the responses of the API. */
  data: number;
  dataRequests: number;
}

export interface Tab extends AsyncDisposable {
  page: Page;
  /** Bytes and requests since the tab was opened, as encoded on the wire, with headers. */
  received(): Received;
  /** Resolves when no code has been received for a while. */
  settled(): Promise<void>;
  /** Navigates; resolves with the milliseconds until each of these is shown. */
  load(url: string, shown: Shown[]): Promise<(number | undefined)[]>;
  /** Measures from the first key or click of `act` until it is shown; undefined when it is not shown in time. */
  measure(act: () => Promise<unknown>, shown: Shown): Promise<Measurement | undefined>;
  /** Resolves when it is shown, and throws if it is not shown in time. */
  wait(shown: Shown): Promise<void>;
  /** Turns the wheel over an element for some seconds, and throws if nothing scrolls. */
  scroll(area: string, elements: string, seconds: number): Promise<Frames>;
  /** Bytes of JavaScript objects that are in use. */
  heap(): Promise<number>;
}

const limitMs = 120_000;
const dataTypes = ['Fetch', 'XHR', 'EventSource', 'Ping', 'WebSocket'];

/** Why there is no browser; undefined where there is one. */
export const missingBrowser = (): string | undefined =>
  whyNoBrowser() ?? (existsSync(executablePath) ? undefined : `${executablePath} does not exist`);

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    // The process handles these signals, because it has more to end than the browser.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });

export type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>;

/** A context has cookies and a cache of its own. */
export const newContext = async (browser: Browser, storageState?: StorageState): Promise<BrowserContext> => {
  const viewport = { width: 1440, height: 860 };
  const context = await browser.newContext({ viewport, ...(storageState ? { storageState } : {}) });
  await context.addInitScript({ path: fileURLToPath(new URL('./console-probe.mjs', import.meta.url)) });
  context.setDefaultTimeout(limitMs);
  return context;
};

/** Counts the bytes of each request until it ends: those of streams, too, which do not end. */
const countBytes = async (page: Page): Promise<() => Received> => {
  const network = await page.context().newCDPSession(page);
  const requests = new Map<string, { url: string; isData: boolean; isCached: boolean; bytes: number }>();
  const add = (id: string, bytes: number): void => {
    const request = requests.get(id);
    if (request) request.bytes += bytes;
  };
  network.on('Network.requestWillBeSent', ({ requestId, type, request: { url } }) => {
    if (!url.startsWith('http')) return;
    requests.set(requestId, { url, isData: dataTypes.includes(type ?? ''), isCached: false, bytes: 0 });
  });
  network.on('Network.requestServedFromCache', ({ requestId }) => {
    const request = requests.get(requestId);
    if (request) request.isCached = true;
  });
  network.on('Network.responseReceived', ({ requestId, response }) => {
    const request = requests.get(requestId);
    if (request && response.fromDiskCache === true) request.isCached = true;
    add(requestId, response.encodedDataLength);
  });
  network.on('Network.dataReceived', ({ requestId, encodedDataLength }) => add(requestId, encodedDataLength));
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const request = requests.get(requestId);
    if (request) request.bytes = encodedDataLength;
  });
  await network.send('Network.enable');
  // The request for the script of a worker is reported to the page, and its end to the worker.
  page.on('requestfinished', (finished) => {
    const request = [...requests.values()].find(
      ({ url, isData, isCached, bytes }) => url === finished.url() && !isData && !isCached && bytes === 0,
    );
    if (!request) return;
    const transferred = (url: string): number =>
      (performance.getEntriesByName(url)[0] as { transferSize?: number } | undefined)?.transferSize ?? 0;
    void page.evaluate(transferred, request.url).then(
      (bytes) => (request.bytes ||= bytes),
      () => undefined, // The tab was closed.
    );
  });
  return () => {
    const all = [...requests.values()].filter(({ isCached }) => !isCached);
    const sum = (isData: boolean): [number, number] => {
      const of = all.filter((request) => request.isData === isData);
      return [of.reduce((bytes, request) => bytes + request.bytes, 0), of.length];
    };
    const [[code, codeRequests], [data, dataRequests]] = [sum(false), sum(true)];
    return { code, codeRequests, data, dataRequests };
  };
};

export const openTab = async (context: BrowserContext): Promise<Tab> => {
  const page = await context.newPage();
  const received = await countBytes(page);
  const session = await context.newCDPSession(page);
  return {
    page,
    received,
    async settled() {
      for (let before = -1; before !== received().code;) {
        before = received().code;
        await sleep(600);
      }
    },
    async load(url, all) {
      await page.goto(url, { waitUntil: 'commit' });
      return Promise.all(
        all.map((shown) =>
          page.evaluate(([what, limit]) => svcProbe.whenShown(what, limit), [shown, limitMs] as const),
        ),
      );
    },
    async measure(act, shown) {
      await page.evaluate(([what, limit]) => svcProbe.arm(what, limit), [shown, limitMs] as const);
      await act();
      return page.evaluate(() => svcProbe.result());
    },
    async wait(shown) {
      const at = await page.evaluate(([what, limit]) => svcProbe.whenShown(what, limit), [
        shown,
        limitMs,
      ] as const);
      if (at === undefined)
        throw new Error(`The page has not shown ${JSON.stringify(shown)} at ${page.url()}`);
    },
    async scroll(area, elements, seconds) {
      const box = await page.locator(area).first().boundingBox();
      if (!box) throw new Error(`${area} is not visible`);
      await page.mouse.move(box.x + box.width / 2, box.y + Math.min(box.height, 600) / 2);
      await page.evaluate((selector) => svcProbe.record(selector), elements);
      for (const end = performance.now() + seconds * 1_000; performance.now() < end;) {
        // Down, up and down again, because a page may begin at its end and end soon.
        const direction = Math.floor(end - performance.now()) % 2_000 < 1_000 ? 1 : -1;
        await page.mouse.wheel(0, direction * 240);
        await sleep(8);
      }
      const frames = await page.evaluate(() => svcProbe.stop());
      if (frames.scrolls === 0) throw new Error(`${area} has not scrolled`);
      return frames;
    },
    async heap() {
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    },
    [Symbol.asyncDispose]: () => page.close(),
  };
};
