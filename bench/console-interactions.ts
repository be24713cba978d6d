// A section of bench:console: what a person does in an open page.
import type { Shown } from './console-browser.ts';
import { openHome, row, type Subject } from './console-pages.ts';
import { samplesForP95, table, timing, timingHead } from './console-tables.ts';

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
      stream_mode: ['messages-tuple', 'updates', 'tasks'],
      stream_resumable: true,
    });
    let first: number | undefined;
    for await (const { event } of events)
      if (event.startsWith('messages')) first ??= performance.now() - started;
    if (first !== undefined) times.push(first);
  }
  return times;
};
