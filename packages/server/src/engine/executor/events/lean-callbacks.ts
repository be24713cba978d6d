// A callback manager whose copies are cheap. The engine copies the manager for every step, hidden steps included, and the
// base class adds labels one by one, each time to a new object: most of what a callback handler costs a run.
import type { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import {
  CallbackManager,
  type CallbackManagerForChainRun,
  type CallbackManagerForRetrieverRun,
  type CallbackManagerForToolRun,
} from '@langchain/core/callbacks/manager';
import { Runnable } from '@langchain/core/runnables';

type WithChildren = CallbackManagerForChainRun | CallbackManagerForToolRun | CallbackManagerForRetrieverRun;
type Labels = Record<string, unknown>;

/** Changes of the engine's handlers of stream modes. */
export interface StreamHandling {
  /**
   * The executor always requests events of subgraphs, because it needs their checkpoints. True makes the handlers skip subgraphs, as
   * if they were not requested.
   */
  skipsSubgraphs?: boolean;
  /**
   * The namespace of events of tools names the task that calls the tool, as in `streamEvents` of version `v3`, and not only its
   * graph. Clients of the thread protocol find subagents by it.
   */
  namesToolTasks?: boolean;
}

/** Behaves like its base class. Copies share tags and labels, so the methods that change them create new ones. */
export class LeanCallbacks extends CallbackManager {
  handling: StreamHandling = {};

  override addHandler(handler: BaseCallbackHandler, inherit?: boolean): void {
    const { skipsSubgraphs, namesToolTasks } = this.handling;
    if ('namespaceOptions' in handler) {
      if (skipsSubgraphs) handler.namespaceOptions = { subgraphs: false };
      if (namesToolTasks && handler.name === 'StreamToolsHandler') handler.namespaceOptions = undefined;
    }
    super.addHandler(handler, inherit);
  }

  override copy(additional: BaseCallbackHandler[] = [], inherit = true): CallbackManager {
    const { handlers, inheritableHandlers, metadata, inheritableMetadata } = this;
    const tags = this.tags.filter((tag, at, all) => all.lastIndexOf(tag) === at);
    const isShared = metadata === inheritableMetadata;
    const copy = new LeanCallbacks(this.getParentRunId(), {
      handlers: [...handlers],
      inheritableHandlers: handlers.filter((handler) => inheritableHandlers.includes(handler)),
      tags,
      inheritableTags: tags.filter((tag) => this.inheritableTags.includes(tag)),
      metadata,
      inheritableMetadata: isShared ? metadata : common(metadata, inheritableMetadata),
    });
    copy.handling = this.handling;
    for (const handler of additional) {
      const isThere = ({ name }: BaseCallbackHandler): boolean =>
        name === 'console_callback_handler' && name === handler.name;
      if (!copy.handlers.some(isThere)) copy.addHandler(handler, inherit);
    }
    return copy;
  }

  override addTags(tags: string[], inherit = true): void {
    if (tags.length > 0) super.addTags(tags, inherit);
  }

  override addMetadata(metadata: Labels, inherit = true): void {
    const isShared = this.metadata === this.inheritableMetadata;
    if (!includesAll(this.metadata, metadata)) this.metadata = { ...this.metadata, ...metadata };
    if (!inherit) return;
    if (isShared) this.inheritableMetadata = this.metadata;
    else if (!includesAll(this.inheritableMetadata, metadata))
      this.inheritableMetadata = { ...this.inheritableMetadata, ...metadata };
  }

  override removeMetadata(metadata: Labels): void {
    this.metadata = { ...this.metadata };
    this.inheritableMetadata = { ...this.inheritableMetadata };
    super.removeMetadata(metadata);
  }

  override async handleChainStart(...given: Parameters<CallbackManager['handleChainStart']>) {
    return withLeanChildren(await super.handleChainStart(...given));
  }

  override async handleToolStart(...given: Parameters<CallbackManager['handleToolStart']>) {
    return withLeanChildren(await super.handleToolStart(...given));
  }

  override async handleRetrieverStart(...given: Parameters<CallbackManager['handleRetrieverStart']>) {
    return withLeanChildren(await super.handleRetrieverStart(...given));
  }
}

/**
 * The callbacks of a graph. A graph that was built with another copy of LangChain gets only the handlers,
 * because the methods that managers call on each other may differ between versions.
 */
export const callbacksOf = (
  graph: object,
  handlers: BaseCallbackHandler[],
  handling: StreamHandling = {},
): CallbackManager | BaseCallbackHandler[] => {
  if (!(graph instanceof Runnable)) return handlers;
  const callbacks = new LeanCallbacks(undefined, { handlers, inheritableHandlers: [...handlers] });
  return Object.assign(callbacks, { handling });
};

/** True when `labels` has every entry of `some`. */
const includesAll = (labels: Labels, some: Labels): boolean => {
  for (const key in some) if (labels[key] !== some[key] || !(key in labels)) return false;
  return true;
};

/** The labels that are inherited. */
const common = (labels: Labels, inherited: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => key in inherited));

const withLeanChildren = <T extends WithChildren>(run: T): T => Object.assign(run, { getChild: leanChild });

/** The lists of handlers are copied, because the child changes its own. */
function leanChild(this: WithChildren, tag?: string): CallbackManager {
  const child = new LeanCallbacks(this.runId, {
    handlers: [...this['inheritableHandlers']],
    inheritableHandlers: [...this['inheritableHandlers']],
    tags: this['inheritableTags'],
    inheritableTags: this['inheritableTags'],
    metadata: this['inheritableMetadata'],
    inheritableMetadata: this['inheritableMetadata'],
  });
  if (tag) child.addTags([tag], false);
  return child;
}
