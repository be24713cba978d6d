// The project's code that runs in the server process: its auth handlers and its custom app. A process may contain several
// servers, so an asynchronous context identifies the server that running code belongs to.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from 'pino';
import type { SvcJson } from '../config/project/svc-json.ts';
import type { SendOwnWebhook } from '../deployment/webhooks/own-webhook.ts';
import type { UserApp } from '../http/custom-app/user-app.ts';

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The server that a custom app belongs to. */
export interface CodeOwner {
  /** Sends the request to the server, without a connection. */
  fetch: Fetch;
  /** Logs an error that no request can report. */
  onUncaught: (error: unknown) => void;
}

const scopeKey = Symbol.for('svc:custom-code');
/** The stock SDK reads it in `new Client()` without a URL. */
const fetchKey = Symbol.for('langgraph_api:fetch');

type Globals = Record<symbol, unknown>;

/** Identifies the server that the running custom code belongs to. One storage for the whole process, because handlers of uncaught errors read it. */
const scope = (): AsyncLocalStorage<CodeOwner | undefined> => {
  const globals = globalThis as Globals;
  globals[scopeKey] ??= new AsyncLocalStorage<CodeOwner | undefined>();
  return globals[scopeKey] as AsyncLocalStorage<CodeOwner | undefined>;
};

/** Logs an error of custom code. Returns false for other errors: after those, the state of the server is unknown. */
export const reportCustomCode = (error: unknown): boolean => {
  const owner = scope().getStore();
  owner?.onUncaught(error);
  return owner !== undefined;
};

/** What the custom app needs once the server is built. */
interface Connections {
  fetch: Fetch;
  /** Sends a request to the routes of the custom app only. */
  fetchCustom: (path: string, init: RequestInit) => Promise<Response>;
}

/** Connects the custom app of a server with the server. */
export class CustomCode {
  readonly app: UserApp;
  readonly #owner: CodeOwner;
  readonly #connected: Promise<Connections>;
  readonly connect: (connections: Connections) => void;

  private constructor(app: UserApp, owner: CodeOwner) {
    this.app = app;
    this.#owner = owner;
    let resolve: (connections: Connections) => void = () => undefined;
    this.#connected = new Promise((connected) => {
      resolve = connected;
    });
    this.connect = (connections) => {
      owner.fetch = connections.fetch;
      resolve(connections);
    };
  }

  /** `loadApp` imports the app. */
  static async load(logger: Logger, loadApp: () => Promise<UserApp>): Promise<CustomCode> {
    exposeFetch();
    const owner: CodeOwner = {
      fetch: () => Promise.reject(new Error('The server has not started yet')),
      onUncaught: (err) => logger.error({ err }, 'uncaught error in the code of http.app'),
    };
    const app = await scope().run(owner, loadApp);
    return new CustomCode(app, owner);
  }

  readonly inside = <T>(work: () => T): T => scope().run(this.#owner, work);
  readonly outside = <T>(work: () => T): T => scope().run(undefined, work);

  readonly sendWebhook: SendOwnWebhook = async (path, body, headers, signal) => {
    const { fetchCustom } = await this.#connected;
    const response = await fetchCustom(path, { method: 'POST', body, headers, signal });
    await response.body?.cancel();
    return response.status;
  };
}

/** Sets the function that `new Client()` calls. Code outside of custom apps, such as a program that contains the server, gets the global `fetch`. */
const exposeFetch = (): void => {
  const owners = scope();
  (globalThis as Globals)[fetchKey] = (input: string | URL | Request, init?: RequestInit) =>
    (owners.getStore()?.fetch ?? fetch)(input, init);
};

/** Makes the logger of the SDK available to code that is loaded into the server process. */
export const prepareGlobals = async (project: SvcJson, logger: Logger): Promise<void> => {
  if (project.auth === undefined && project.customApp === undefined) return;
  // Imported here, because most servers have no such code.
  const { exposeLogger } = await import('../engine/executor/server-globals.ts');
  exposeLogger(logger.child({ process: project.customApp ? 'server' : 'auth' }));
};
