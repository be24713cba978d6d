// The engine's callback manager, with copies that cost little. The engine copies it for every step, hidden ones included, and its
// own copy adds labels one by one, each time to a new object: of what a handler costs a run, that is most.
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

/** It behaves as its base class does. Tags and labels are shared by copies: whatever changes them makes new ones. */
export class LeanCallbacks extends CallbackManager {
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
    if (!holds(this.metadata, metadata)) this.metadata = { ...this.metadata, ...metadata };
    if (!inherit) return;
    if (isShared) this.inheritableMetadata = this.metadata;
    else if (!holds(this.inheritableMetadata, metadata))
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
 * What a graph is given as its callbacks, for a handler of its own. A graph that was made with another copy of LangChain gets
 * the handler alone: what managers ask of each other may differ between versions.
 */
export const callbacksOf = (
  graph: object,
  handler: BaseCallbackHandler,
): CallbackManager | BaseCallbackHandler[] =>
  graph instanceof Runnable
    ? new LeanCallbacks(undefined, { handlers: [handler], inheritableHandlers: [handler] })
    : [handler];

const holds = (labels: Labels, some: Labels): boolean => {
  for (const key in some) if (labels[key] !== some[key] || !(key in labels)) return false;
  return true;
};

/** What of the labels is inherited. */
const common = (labels: Labels, inherited: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => key in inherited));

const withLeanChildren = <T extends WithChildren>(run: T): T => Object.assign(run, { getChild: leanChild });

/** What is in a child's hands is changed by it; hence copies. */
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
