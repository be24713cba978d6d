// A tab of a browser with the console: it keeps the cookie and the CSRF token, and sends them with requests of its page.
import type { ConsoleSession } from '@svc/contract';

export interface Answer {
  status: number;
  body: unknown;
  headers: Headers;
}

export class Tab {
  readonly url: string;
  cookie: string | undefined;
  csrf: string | undefined;

  constructor(url: string) {
    this.url = url;
  }

  /** The headers that the page and its browser send. */
  get headers(): Record<string, string> {
    return {
      origin: this.url,
      'sec-fetch-site': 'same-origin',
      ...(this.cookie === undefined ? {} : { cookie: this.cookie }),
      ...(this.csrf === undefined ? {} : { 'x-svc-csrf': this.csrf }),
    };
  }

  /** `changed`: headers to send instead; undefined leaves one out. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    changed: Record<string, string | undefined> = {},
  ): Promise<Answer> {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = Object.entries({ ...this.headers, ...json, ...changed }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const response = await fetch(this.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const set = response.headers.get('set-cookie');
    if (set !== null) this.cookie = set.includes('Max-Age=0;') ? undefined : set.split(';', 1)[0];
    const text = await response.text();
    return {
      status: response.status,
      body: text === '' ? undefined : JSON.parse(text),
      headers: response.headers,
    };
  }

  async signIn(body: object): Promise<Answer> {
    const answer = await this.send('POST', '/console/auth/session', body);
    if (answer.status === 200) this.csrf = (answer.body as ConsoleSession).csrf_token ?? undefined;
    return answer;
  }

  /** Reads the session, as the page does when it is loaded. */
  async load(): Promise<ConsoleSession> {
    this.csrf = undefined;
    const { body } = await this.send('GET', '/console/auth/session');
    this.csrf = (body as ConsoleSession).csrf_token ?? undefined;
    return body as ConsoleSession;
  }
}

/** A tab that has signed in. */
export const signedIn = async (url: string, body: object): Promise<Tab> => {
  const tab = new Tab(url);
  const { status, body: answer } = await tab.signIn(body);
  if (status !== 200) throw new Error(`sign-in failed: ${status} ${JSON.stringify(answer)}`);
  return tab;
};
