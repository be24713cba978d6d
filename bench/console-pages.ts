// Sections of bench:console: the first load, the cost of each page, and interactions.
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
import { fixed, median, percentile } from './report.ts';

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

export const kilobytes = (bytes: number): string => fixed(bytes / 1_000, 1);

export const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

/** The p50 of the samples that were shown in time. */
export const middle = (samples: (number | undefined)[], digits = 0): string => {
  const found = samples.filter((sample) => sample !== undefined);
  return found.length === 0 ? 'none' : fixed(median(found), digits);
};

/** A p95 of fewer samples would be the longest one. */
const samplesForP95 = 20;

/** Cells with the p50, the p95, and the number of samples. Samples are undefined if the page has not shown it in time. */
export const timing = (samples: (number | undefined)[]): string[] => {
  const times = samples.filter((ms) => ms !== undefined);
  const late = samples.length - times.length;
  return [
    middle(samples),
    times.length < samplesForP95 ? '' : fixed(percentile(times, 0.95), 0),
    late === 0 ? String(times.length) : `${times.length}, and ${late} not in time`,
  ];
};

export const timingHead = ['p50, ms', 'p95, ms', 'samples'];

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

const row = '#content tbody tr';

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
const openHome = async ({ browser, url, signedIn }: Subject): Promise<Tab> => {
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

/** Actions that a person waits for, each from the state in which the previous repetition began. */
export const measureInteractions = async (subject: Subject): Promise<string> => {
  const { things, url } = subject;
  await using tab = await openHome(subject);
  const { page } = tab;
  const repeat = async (
    what: string,
    { prepare, act, shown }: { prepare: () => Promise<unknown>; act: () => Promise<unknown>; shown: Shown },
  ): Promise<string[]> => {
    const times: (number | undefined)[] = [];
    for (let round = 0; round < Math.max(subject.rounds, samplesForP95); round++) {
      await prepare();
      times.push((await tab.measure(act, shown))?.ms);
    }
    process.stderr.write(`${what}: ${timing(times).join(' | ')}\n`);
    return [what, ...timing(times)];
  };
  const open = async (path: string, shown: Shown): Promise<void> => {
    await tab.load(`${url}${path}`, []);
    await tab.wait(shown);
  };
  const key = (name: string) => () => page.keyboard.press(name);
  const rows = [
    await repeat('open the palette', {
      prepare: async () => {
        await page.keyboard.press('Escape');
        await tab.wait({ selector: 'dialog[open], [role=dialog]', count: 0 });
      },
      act: key('Control+k'),
      shown: { selector: '[role=option]' },
    }),
    await repeat('the last letter of a filter of the settings, with Enter', {
      prepare: async () => {
        await open('/settings', { selector: row, heading: 'Settings', above: 20 });
        await page.locator('[data-filter]').pressSequentially('SVC_PORT');
      },
      act: key('Enter'),
      shown: { selector: '#content tbody th', count: 1 },
    }),
    await repeat('the same of the assistants, which asks the server', {
      prepare: async () => {
        await open('/assistants', { selector: row, heading: 'Assistants', above: 20 });
        await page.locator('[data-filter]').pressSequentially('Terse');
      },
      act: key('Enter'),
      shown: { selector: row, count: 1 },
    }),
    await repeat('a letter in the search of a trace', {
      prepare: async () => {
        await open(`/traces/${things.runId}`, { selector: '[role=treeitem]' });
        await page.locator('.span-tools input').pressSequentially('tool');
      },
      act: key('s'),
      shown: { selector: '.span-tools', text: 'found' },
    }),
    await repeat('open a row of Threads, whose code is loaded', {
      prepare: () => open('/threads', { selector: row, heading: 'Threads' }),
      act: () => page.locator(`${row} a`).first().click(),
      shown: { selector: '.message' },
    }),
    await repeat('switch a tab of a run', {
      prepare: () =>
        open(`/runs/${things.runId}?thread=${things.threadId}`, { selector: '.facts', heading: 'Run' }),
      act: () => page.locator('[role=tab] >> text="Input"').click(),
      shown: { selector: '#content .json' },
    }),
    await repeat('send a message in the playground, to the first token', {
      prepare: async () => {
        await open('/playground?assistant=tokens', { selector: 'textarea[aria-label=Message]' });
        await page.getByLabel('Message', { exact: true }).fill('hi');
      },
      act: key('Enter'),
      shown: { selector: '.message[data-kind=ai]', text: 'token0' },
    }),
  ];
  rows.push(['the same by a client without a browser', ...timing(await firstTokens(subject))]);
  return table(['interaction', ...timingHead], rows);
};

/** Milliseconds from the creation of a thread to the first message of a run on it, with the requests that the playground sends. */
const firstTokens = async ({ clients: { deployment }, rounds }: Subject): Promise<number[]> => {
  const times: number[] = [];
  for (let round = 0; round < Math.max(rounds, samplesForP95); round++) {
    const started = performance.now();
    const { thread_id } = await deployment.threads.create({ graphId: 'tokens' });
    const events = deployment.runs.stream(thread_id, 'tokens', {
      input: { messages: [{ role: 'user', content: 'hi' }] },
      stream_mode: ['values', 'messages-tuple', 'tasks'],
      stream_resumable: true,
    });
    let first: number | undefined;
    for await (const { event } of events)
      if (event.startsWith('messages')) first ??= performance.now() - started;
    if (first !== undefined) times.push(first);
  }
  return times;
};
