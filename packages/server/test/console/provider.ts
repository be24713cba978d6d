// A real OpenID Connect provider (oidc-provider) without forms, and a browser that follows its redirects.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

export const clientId = 'svc-console';

export interface TestProvider extends AsyncDisposable {
  issuer: string;
  /** Who signs in next; undefined: the user refuses. */
  user: string | undefined;
  /** Whether ID tokens get the signature of another key. */
  isForging: boolean;
  /** Registers the console as a client, with a secret or as a public client. */
  register(redirectUri: string, secret?: string): void;
}

export const startProvider = async (): Promise<TestProvider> => {
  let provider: Provider | undefined;
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    if (provider === undefined) return void response.writeHead(503).end();
    if (test.isForging && request.url === '/token') forgeIdToken(response);
    if (request.url?.startsWith('/interaction/') !== true) return void provider.callback()(request, response);
    const { user } = test;
    const result =
      user === undefined ? { error: 'access_denied' } : { login: { accountId: user, remember: false } };
    provider.interactionFinished(request, response, result).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const test: TestProvider = {
    issuer,
    user: undefined,
    isForging: false,
    register: (redirectUri, secret) => {
      provider = new Provider(issuer, {
        clients: [
          {
            client_id: clientId,
            redirect_uris: [redirectUri],
            ...(secret === undefined
              ? { token_endpoint_auth_method: 'none' as const }
              : { client_secret: secret }),
          },
        ],
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_, { uid }) => `/interaction/${uid}` },
        findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
        ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
        async loadExistingGrant({ oidc }) {
          const known = oidc.session?.grantIdFor(clientId);
          if (known !== undefined) return oidc.provider.Grant.find(known);
          const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session?.accountId ?? '' });
          grant.addOIDCScope('openid profile email');
          await grant.save();
          return grant;
        },
      });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return test;
};

/** Changes the signature of the ID token in the body that this response gets. */
const forgeIdToken = (response: ServerResponse): void => {
  const end = response.end.bind(response) as (body: string) => ServerResponse;
  const forged = (body: string): string =>
    body.replace(
      /("id_token":"[^".]+\.[^".]+\.)(.)/,
      (_, before: string, first: string) => `${before}${first === 'A' ? 'B' : 'A'}`,
    );
  response.end = ((body: string) => end(forged(String(body)))) as ServerResponse['end'];
};

/** Follows redirects as a browser does, with the cookies of each origin. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** Returns the first address that does not redirect. */
  async go(from: string): Promise<URL> {
    let at = new URL(from);
    for (let redirects = 0; redirects < 20; redirects++) {
      const response = await this.get(at);
      const location = response.headers.get('location');
      await response.body?.cancel();
      if (location === null) return at;
      at = new URL(location, at);
    }
    throw new Error('The redirects do not end');
  }

  async get(at: URL, headers: Record<string, string> = {}): Promise<Response> {
    const cookies = this.#of(at);
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, {
      redirect: 'manual',
      headers: cookie === '' ? headers : { ...headers, cookie },
    });
    this.take(at.origin, response.headers.getSetCookie());
    return response;
  }

  /** Keeps cookies of an origin. */
  take(origin: string, set: string[]): void {
    const cookies = this.#of(new URL(origin));
    for (const text of set) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      cookies.set(name, value);
    }
  }

  /** The cookie with this beginning of its name, as a header. */
  cookie(origin: string, beginning: string): string | undefined {
    const found = [...this.#of(new URL(origin))].find(([name]) => name.startsWith(beginning));
    return found?.join('=');
  }

  #of({ origin }: URL): Map<string, string> {
    const known = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, known);
    return known;
  }
}
