// A browser, a site, and a server that the site's pages use; what the tests of pages share.
import { Client } from '@langchain/langgraph-sdk';
import { Owned } from '../../../server/src/app/owned.ts';
import { bearer, openDeployment, type Deployment } from '../../deployment.ts';
import type { Node, NodeOptions } from '../../node.ts';
import { openBrowser, type Browser, type Site } from './browser.ts';

export class Scene implements AsyncDisposable {
  readonly browser: Browser;
  readonly site: Site;
  readonly deployment: Deployment;
  node: Node;
  readonly #owned: Owned;

  private constructor(parts: Pick<Scene, 'browser' | 'site' | 'deployment' | 'node'>, owned: Owned) {
    this.browser = parts.browser;
    this.site = parts.site;
    this.deployment = parts.deployment;
    this.node = parts.node;
    this.#owned = owned;
  }

  static async open(serve: () => Promise<Site>, options: Pick<NodeOptions, 'config'> = {}): Promise<Scene> {
    const owned = new Owned();
    try {
      const deployment = owned.keep(await openDeployment());
      const site = owned.keep(await serve());
      const browser = await openBrowser();
      owned.keep({ [Symbol.asyncDispose]: () => browser.close() });
      return new Scene({ browser, site, deployment, node: await deployment.start(options) }, owned);
    } catch (error) {
      await owned[Symbol.asyncDispose]();
      throw error;
    }
  }

  runsOf(threadId: string) {
    const client = new Client({ apiUrl: this.node.url, defaultHeaders: bearer() });
    return client.runs.list(threadId);
  }

  /** kill -9 of the server, and its start on the same port. */
  async restart(): Promise<void> {
    await this.node.kill();
    this.node = await this.deployment.start({ port: new URL(this.node.url).port });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned[Symbol.asyncDispose]();
  }
}
