// Sections of bench:console: frames while somebody scrolls through much, and a thread with a large state.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  newContext,
  openTab,
  type Frames,
  type Measurement,
  type Shown,
  type Tab,
} from './console-browser.ts';
import { createConversation, createLargeState, sendTrace } from './console-data.ts';
import type { Subject } from './console-pages.ts';
import { table, timing, timingHead } from './console-tables.ts';
import { fixed, median, percentile } from './report.ts';

const volume = { spans: 10_000, messages: 5_000, objects: 50_000, characters: 5_000_000 };
const scrollSeconds = 3;

const openSignedIn = async ({ browser, signedIn }: Subject): Promise<Tab> => {
  const context = await newContext(browser, signedIn);
  return { ...(await openTab(context)), [Symbol.asyncDispose]: () => context.close() };
};

const frameCells = ({ deltas, most }: Frames): string[] => [
  fixed(median(deltas), 1),
  fixed(percentile(deltas, 0.95), 1),
  fixed(Math.max(...deltas), 0),
  String(deltas.length),
  String(most),
];

const scroll = async (tab: Tab, area: string, elements: string, what: string): Promise<string[]> => [
  what,
  ...frameCells(await tab.scroll(area, elements, scrollSeconds)),
];

export const measureFrames = async (subject: Subject): Promise<string> => {
  const { url, clients, rounds } = subject;
  const traceId = await sendTrace(clients.platform, 'frames', volume.spans);
  const threadId = await createConversation(clients.deployment, volume.messages);
  const opened: Record<'trace' | 'thread' | 'earlier', (number | undefined)[]> = {
    trace: [],
    thread: [],
    earlier: [],
  };
  const scrolled: string[][] = [];
  for (let round = 0; round < rounds; round++) {
    const isLast = round === rounds - 1;
    await using tab = await openSignedIn(subject);
    const { page } = tab;
    opened.trace.push(...(await tab.load(`${url}/traces/${traceId}`, [{ selector: '[role=treeitem]' }])));
    if (isLast) {
      await tab.settled();
      scrolled.push(await scroll(tab, '[role=tree]', '[role=treeitem]', 'a trace of 10,000 spans'));
    }
    opened.thread.push(...(await tab.load(`${url}/threads/${threadId}`, [{ selector: '.message' }])));
    if (isLast) {
      await tab.settled();
      scrolled.push(await scroll(tab, '.page-body', '.message', 'a thread of 5,000 messages'));
    }
    const before = await page.locator('.message').count();
    const earlier = page.locator('.messages > button');
    await earlier.scrollIntoViewIfNeeded();
    const shown: Shown = { selector: '.message', above: before };
    opened.earlier.push((await tab.measure(() => earlier.click(), shown))?.ms);
    if (isLast) {
      await tab.settled();
      scrolled.push(await scroll(tab, '.page-body', '.message', 'the same with earlier messages'));
    }
  }
  return [
    table(
      ['from the navigation, with an empty cache', ...timingHead],
      [
        ['a trace of 10,000 spans, to its first rows', ...timing(opened.trace)],
        ['a thread of 5,000 messages, to its newest ones', ...timing(opened.thread)],
        ['*earlier messages* of this thread, from the click', ...timing(opened.earlier)],
      ],
    ),
    table(
      [
        `${scrollSeconds} s of the wheel on`,
        'frame, p50, ms',
        'p95, ms',
        'longest, ms',
        'frames',
        'rows in the page at most',
      ],
      scrolled,
    ),
  ].join('\n\n');
};

/** Opens and closes the list of keys again and again until the action ends. Resolves with the longest time from the key to the list. */
const answerWhile = async (tab: Tab, isOver: () => boolean): Promise<number | undefined> => {
  const dialog: Shown = { selector: '[role=dialog], dialog[open]' };
  let longest: number | undefined;
  do {
    const measured = await tab.measure(() => tab.page.keyboard.press('?'), dialog);
    longest = Math.max(longest ?? 0, measured?.ms ?? Infinity);
    await tab.page.keyboard.press('Escape');
    await tab.wait({ ...dialog, count: 0 });
    await sleep(50);
  } while (!isOver());
  return longest;
};

interface LargeView {
  what: string;
  act: (tab: Tab) => Promise<unknown>;
  shown: Shown;
}

const text = 'records';

const largeViews = (threadId: string): LargeView[] => [
  {
    what: 'the thread',
    act: ({ page }) => page.locator(`#content tbody a[href*="/threads/${threadId}"]`).click(),
    shown: { selector: '.channels dt, #content .json-key', text },
  },
  {
    what: 'its newest checkpoint, changes since the parent',
    act: ({ page }) => page.locator('[role=tab] >> text="Checkpoints"').click(),
    shown: { selector: '.diff-path, .split-detail .json-key', text },
  },
  {
    what: 'its newest checkpoint, all values',
    act: ({ page }) => page.getByRole('button', { name: 'All values' }).click(),
    shown: { selector: '.split-detail > .json .json-key', text },
  },
];

export const measureState = async (subject: Subject): Promise<string> => {
  const { url, clients, rounds } = subject;
  const { threadId, bytes } = await createLargeState(clients.deployment, volume);
  const views = largeViews(threadId);
  const samples = views.map(() => ({
    times: [] as (Measurement | undefined)[],
    data: [] as number[],
    heap: [] as number[],
    answers: [] as (number | undefined)[],
  }));
  for (let round = 0; round < Math.min(rounds, 3); round++)
    for (const isPressing of [false, true]) {
      await using tab = await openSignedIn(subject);
      await tab.load(`${url}/threads`, []);
      await tab.wait({ selector: '#content tbody tr', heading: 'Threads' });
      for (const [index, { what, act, shown }] of views.entries()) {
        const sample = samples[index];
        const before = tab.received().data;
        if (isPressing) {
          await act(tab);
          let isOver = false;
          const wait = tab
            .wait(shown)
            .catch(() => undefined)
            .finally(() => (isOver = true));
          const [longest] = await Promise.all([answerWhile(tab, () => isOver), wait]);
          sample?.answers.push(longest);
        } else {
          sample?.times.push(await tab.measure(() => act(tab), shown));
          sample?.data.push(tab.received().data - before);
          sample?.heap.push(await tab.heap());
        }
        process.stderr.write(`${what}: ${JSON.stringify(sample)}\n`);
      }
    }
  const rows = samples.map(({ times, data, heap, answers }, index) => [
    views[index]?.what ?? '',
    ...timing(times.map((time) => time?.ms)),
    fixed(median(data) / 1e6, 1),
    fixed(median(heap) / 1e6, 0),
    fixed(Math.max(...times.map((time) => time?.longestTaskMs ?? 0)), 0),
    fixed(Math.max(...answers.map((ms) => ms ?? Infinity)), 0),
  ]);
  return [
    `The state has ${fixed(bytes / 1e6, 1)} MB of JSON.`,
    table(
      [
        'shown',
        ...timingHead,
        'data, MB',
        'JS heap then, MB',
        'longest task, ms',
        'longest answer to a key during the load, ms',
      ],
      rows,
    ),
  ].join('\n\n');
};
