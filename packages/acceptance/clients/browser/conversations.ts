// What a person sees in a chat page, whatever hook it is made with.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../../server/test/eventually.ts';
import { tokens } from '../../deployment.ts';
import { describeInBrowser } from './browser.ts';
import { ChatPage } from './chat-page.ts';
import { serveChat, type ChatPageKind } from './chat-site.ts';
import { Scene } from './scene.ts';

export interface Conversations extends ChatPageKind {
  title: string;
  transport: 'sse' | 'websocket';
  /** True for an SDK that shows the text of a lost attempt until the page is reloaded. */
  keepsLostText?: boolean;
}

const half = 'ai: one two three';
const counted = 'ai: one two three four five six';

class Pages {
  scene!: Scene;
  readonly given: Conversations;

  constructor(given: Conversations) {
    this.given = given;
  }

  open(query: Record<string, string> = {}): Promise<ChatPage> {
    const { browser, site, node } = this.scene;
    return ChatPage.open(browser, site.url, { api: node.url, transport: this.given.transport, ...query });
  }

  /** A page that shows the first half of an answer; the second half waits for the gate. */
  async openMidStream(query: Record<string, string> = {}) {
    const gate = this.scene.deployment.gate();
    const chat = await this.open(query);
    await chat.send(`count ${gate.name}`);
    const asked = `human: count ${gate.name}`;
    await chat.shows(asked, half);
    return { chat, gate, asked, [Symbol.asyncDispose]: () => chat[Symbol.asyncDispose]() };
  }
}

const testAnswers = (pages: Pages): void => {
  it('shows an answer, and the answer to the next message', async () => {
    await using chat = await pages.open();
    await chat.send('hello');
    await chat.endsWith('human: hello', 'ai: You said: hello');
    await chat.send('again');
    await chat.endsWith('human: hello', 'ai: You said: hello', 'human: again', 'ai: You said: again');
  });

  it('connects over the transport that it was given', async () => {
    await using chat = await pages.open();
    const sockets: string[] = [];
    chat.page.on('websocket', (socket) => sockets.push(socket.url()));
    await chat.send('hello');
    await chat.endsWith('human: hello', 'ai: You said: hello');
    if (pages.given.transport === 'sse') expect(sockets).toEqual([]);
    else expect(sockets.join()).toContain(`/threads/${chat.thread()}/stream/events?ticket=`);
  });

  it('shows an answer token by token', async () => {
    await using opened = await pages.openMidStream();
    const { chat, gate, asked } = opened;
    await gate.open();
    await chat.endsWith(asked, counted);
  });

  it('shows a tool call and its result', async () => {
    await using chat = await pages.open();
    await chat.send('weather?');
    await chat.endsWith('human: weather?', 'ai: ', 'tool: snow in Oslo', 'ai: It is snow in Oslo.');
  });

  it('asks a person and goes on with the answer, also after a reload', async () => {
    await using chat = await pages.open();
    await chat.send('a letter');
    await chat.asks('Send the letter?');
    await chat.reload();
    await chat.asks('Send the letter?');
    await chat.approve();
    await chat.endsWith('human: a letter', 'ai: The letter is sent.');
  });

  it('stops an answer, and the run on the server', async () => {
    await using opened = await pages.openMidStream();
    const { chat, asked } = opened;
    await chat.stop();
    await eventually(async () =>
      expect(await pages.scene.runsOf(chat.thread())).toMatchObject([{ status: 'interrupted' }]),
    );
    await chat.send('hello');
    await eventually(async () => expect(await chat.messages()).toContain('ai: You said: hello'));
    await chat.reload();
    await chat.endsWith(asked, 'human: hello', 'ai: You said: hello');
  });

  it('shows the threads of its own user only', async () => {
    await using chat = await pages.open();
    await chat.send('a secret');
    await chat.endsWith('human: a secret', 'ai: You said: a secret');
    await using foreign = await pages.open({ thread: chat.thread(), token: tokens.ben });
    await foreign.send('what did Ann say?');
    await eventually(async () => expect(await foreign.error()).not.toBe(''));
    expect((await foreign.messages()).join()).not.toContain('You said');
    expect(await pages.scene.runsOf(chat.thread())).toHaveLength(1);
  });
};

/** Of hooks with the newest SDK over the thread protocol. */
const testOtherPages = (pages: Pages): void => {
  it('no longer asks when another page has answered', async () => {
    await using chat = await pages.open();
    await chat.send('a letter');
    await chat.asks('Send the letter?');
    await using other = await pages.open({ thread: chat.thread() });
    await other.asks('Send the letter?');
    await chat.approve();
    await other.endsWith('human: a letter', 'ai: The letter is sent.');
    await eventually(async () => expect(await other.page.getByRole('alertdialog').count()).toBe(0));
  });
};

const testInterruptions = (pages: Pages): void => {
  it('shows the conversation after a reload', async () => {
    await using chat = await pages.open();
    await chat.send('hello');
    await chat.endsWith('human: hello', 'ai: You said: hello');
    await chat.reload();
    await chat.endsWith('human: hello', 'ai: You said: hello');
    await chat.send('again');
    await chat.endsWith('human: hello', 'ai: You said: hello', 'human: again', 'ai: You said: again');
  });

  it('continues an answer after a reload in the middle of it', async () => {
    await using opened = await pages.openMidStream();
    const { chat, gate, asked } = opened;
    await chat.reload();
    await chat.shows(asked, half);
    await gate.open();
    await chat.endsWith(asked, counted);
  });

  it('ends with the whole conversation when the server is killed in the middle of an answer', async () => {
    await using opened = await pages.openMidStream();
    const { chat, gate, asked } = opened;
    await pages.scene.restart();
    await gate.open();
    await chat.endsWith(asked, counted, ...(pages.given.keepsLostText ? [half] : []));
    await chat.reload();
    await chat.endsWith(asked, counted);
    expect(await pages.scene.runsOf(chat.thread())).toMatchObject([{ status: 'success', attempt: 2 }]);
  });

  it('streams a run that another node executes, and continues it at that node', async () => {
    const { deployment, node } = pages.scene;
    const api = await deployment.start({ role: 'api' });
    await using opened = await pages.openMidStream({ api: api.url });
    const { chat, gate, asked } = opened;
    await chat.change({ api: node.url });
    await chat.shows(asked, half);
    await gate.open();
    await chat.endsWith(asked, counted);
  });
};

export const describeConversationsInBrowser = (given: Conversations): void => {
  describeInBrowser(given.title, () => {
    const pages = new Pages(given);
    beforeAll(async () => {
      pages.scene = await Scene.open(() => serveChat(given));
    });
    afterAll(() => pages.scene?.[Symbol.asyncDispose]());

    testAnswers(pages);
    if (given.newestSdk === true) testOtherPages(pages);
    testInterruptions(pages);
  });
};
