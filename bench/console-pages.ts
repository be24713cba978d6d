// Sections of bench:console: the first load, and the cost of each page.
import type { Browser } from 'playwright-core';
import type { Clients, Things } from './console-data.ts';
import {
  newContext,
  openTab,
  type Received,
  type Shown,
  type StorageState,
  type Tab,
} from './console-browser.ts';
import { kilobytes, middle, table, timing, timingHead } from './console-tables.ts';
import { median } from './report.ts';

/** What a section measures with. */
export interface Subject {
  browser: Browser;
  /** Address of the console. */
  url: string;
  clients: Clients;
  things: Things;
  /** A signed-in session. */
  signedIn: StorageState;
  /** Repetitions of each figure. */
  rounds: number;
}

const homeHeading: Shown = { selector: 'h1', heading: 'Home' };
const homeContent: Shown = { selector: '.home tbody tr', heading: 'Home' };

interface Load extends Received {
  heading: number | undefined;
  content: number | undefined;
}

export const measureLoads = async ({ browser, url, rounds }: Subject): Promise<string> => {
  const kinds = ['an empty cache', 'a warm cache'] as const;
  const loads = kinds.map((): Load[] => []);
  for (let round = 0; round < rounds; round++) {
    await using context = await newContext(browser);
    for (const samples of loads) {
      await using tab = await openTab(context);
      const [heading, content] = await tab.load(url, [homeHeading, homeContent]);
      await tab.settled();
      samples.push({ ...tab.received(), heading, content });
    }
  }
  const rows = loads.map((samples, index) => [
    kinds[index] ?? '',
    kilobytes(median(samples.map(({ code }) => code))),
    String(median(samples.map(({ codeRequests }) => codeRequests))),
    kilobytes(median(samples.map(({ data }) => data))),
    String(median(samples.map(({ dataRequests }) => dataRequests))),
    middle(samples.map(({ heading }) => heading)),
    ...timing(samples.map(({ content }) => content)),
  ]);
  return table(
    [
      'first load with',
      'code, kB',
      'requests of code',
      'data, kB',
      'requests of data',
      'heading, p50, ms',
      ...timingHead.map((cell) => (cell === 'samples' ? cell : `rows, ${cell}`)),
    ],
    rows,
  );
};

interface PageStep {
  /** The element that is clicked. */
  click: string;
  shown: Shown;
}

const rail = (label: string, shown: Omit<Shown, 'heading'>): PageStep => ({
  click: `nav.rail >> text="${label}"`,
  shown: { ...shown, heading: label },
});

/** Rows of the list that a page shows. */
export const row = '#content tbody tr';

/** The clicks that open each page from Home. */
const pageSteps = ({ threadId, runId, assistantId }: Things): Record<string, PageStep[]> => {
  const lists = {
    threads: rail('Threads', { selector: row }),
    runs: rail('Runs', { selector: row }),
    traces: rail('Traces', { selector: row }),
    assistants: rail('Assistants', { selector: row }),
  };
  const thread: PageStep = {
    click: `${row} a[href*="/threads/${threadId}"]`,
    shown: { selector: '.message' },
  };
  const checkpoints: PageStep = {
    click: '[role=tab] >> text="Checkpoints"',
    shown: { selector: '.split-detail .diff' },
  };
  return {
    Playground: [rail('Playground', { selector: '.composer' })],
    Threads: [lists.threads],
    'a thread': [lists.threads, thread],
    'its checkpoints': [lists.threads, thread, checkpoints],
    Runs: [lists.runs],
    'a run': [
      lists.runs,
      { click: `${row} a[href*="/runs/${runId}"]`, shown: { selector: '.facts', heading: 'Run' } },
    ],
    Inbox: [rail('Inbox', { selector: '.split-detail .question, .split-detail textarea' })],
    Traces: [lists.traces],
    'a trace': [
      lists.traces,
      { click: `${row} a[href*="/traces/${runId}"]`, shown: { selector: '[role=treeitem]' } },
    ],
    Exports: [rail('Exports', { selector: row })],
    Crons: [rail('Crons', { selector: row })],
    Assistants: [lists.assistants],
    'an assistant': [
      lists.assistants,
      { click: `${row} a[href*="/assistants/${assistantId}"]`, shown: { selector: '.version' } },
    ],
    Store: [rail('Store', { selector: '.namespace-label' })],
    Webhooks: [rail('Webhooks', { selector: row })],
    Keys: [rail('Keys', { selector: row })],
    Settings: [rail('Settings', { selector: row })],
  };
};

/** Opens Home in a new context with an empty cache. */
export const openHome = async ({ browser, url, signedIn }: Subject): Promise<Tab> => {
  const context = await newContext(browser, signedIn);
  const tab = await openTab(context);
  await tab.load(url, [homeContent]);
  await tab.settled();
  return { ...tab, [Symbol.asyncDispose]: () => context.close() };
};

export const measurePages = async (subject: Subject): Promise<string> => {
  const rows: string[][] = [];
  for (const [name, steps] of Object.entries(pageSteps(subject.things))) {
    const code: number[] = [];
    const own: number[] = [];
    const times: (number | undefined)[] = [];
    for (let round = 0; round < subject.rounds; round++) {
      await using tab = await openHome(subject);
      const home = tab.received().code;
      let before = home;
      for (const [index, { click, shown }] of steps.entries()) {
        before = tab.received().code;
        const measured = await tab.measure(() => tab.page.locator(click).first().click(), shown);
        if (index === steps.length - 1) times.push(measured?.ms);
        await tab.settled();
      }
      code.push(tab.received().code - home);
      own.push(tab.received().code - before);
    }
    rows.push([name, kilobytes(median(code)), kilobytes(median(own)), ...timing(times)]);
    process.stderr.write(`${rows.at(-1)?.join(' | ') ?? ''}\n`);
  }
  return table(['page', 'code after Home, kB', 'by the last click, kB', ...timingHead], rows);
};
