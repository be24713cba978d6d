// A browser, a site, and a server that the site's pages use; what the tests of pages share.
import { Client } from '@langchain/langgraph-sdk';
import { bearer, openDeployment, type Deployment } from '../../deployment.ts';
import type { Node, NodeOptions } from '../../node.ts';
import { openBrowser, type Browser, type Site } from './browser.ts';

export class Scene implements AsyncDisposable {
  readonly browser: Browser;
  readonly site: Site;
  readonly deployment: Deployment;
  node: Node;

  private constructor(browser: Browser, site: Site, deployment: Deployment, node: Node) {
    this.browser = browser;
    this.site = site;
    this.deployment = deployment;
    this.node = node;
  }

  static async open(serve: () => Promise<Site>, options: Pick<NodeOptions, 'config'> = {}): Promise<Scene> {
    const [browser, site, deployment] = await Promise.all([openBrowser(), serve(), openDeployment()]);
    return new Scene(browser, site, deployment, await deployment.start(options));
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser.close();
    await this.site[Symbol.asyncDispose]();
    await this.deployment[Symbol.asyncDispose]();
  }
}
