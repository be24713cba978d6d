// A chat page as a person uses it.
import { eventually } from '../../../server/test/eventually.ts';
import { expect } from 'vitest';
import { tokens } from '../../deployment.ts';
import { openPage, type Browser, type Page } from './browser.ts';

export class ChatPage implements AsyncDisposable {
  readonly page: Page;

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(browser: Browser, site: string, query: Record<string, string>): Promise<ChatPage> {
    const page = await openPage(browser);
    await page.goto(`${site}?${new URLSearchParams({ token: tokens.ann, ...query })}`);
    return new ChatPage(page);
  }

  async send(text: string): Promise<void> {
    await this.page.getByLabel('Message').fill(text);
    await this.page.getByRole('button', { name: 'Send' }).click();
  }

  async stop(): Promise<void> {
    await this.page.getByRole('button', { name: 'Stop' }).click();
  }

  async approve(): Promise<void> {
    await this.page.getByRole('button', { name: 'Approve' }).click();
  }

  async reload(): Promise<void> {
    await this.page.reload();
  }

  /** Opens the page again with a changed address. */
  async change(query: Record<string, string>): Promise<void> {
    const address = new URL(this.page.url());
    for (const [key, value] of Object.entries(query)) address.searchParams.set(key, value);
    await this.page.goto(address.href);
  }

  messages(): Promise<string[]> {
    return this.page.getByRole('listitem').allTextContents();
  }

  error(): Promise<string> {
    return this.page.getByRole('alert').innerText();
  }

  /** The thread in the address of the page. */
  thread(): string {
    return new URL(this.page.url()).searchParams.get('thread')!;
  }

  /** Waits until the page shows exactly these messages. */
  async shows(...messages: string[]): Promise<void> {
    await eventually(async () =>
      expect({ messages: await this.messages(), error: await this.error() }).toEqual({ messages, error: '' }),
    );
  }

  /** Waits until the page shows these messages and no run. */
  async endsWith(...messages: string[]): Promise<void> {
    await this.shows(...messages);
    await eventually(async () =>
      expect(await this.page.locator('main').getAttribute('data-loading')).toBe('false'),
    );
    expect(await this.messages()).toEqual(messages);
  }

  async asks(question: string): Promise<void> {
    await eventually(async () =>
      expect(await this.page.getByRole('alertdialog').innerText()).toContain(question),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
  }
}
