import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { CallbackManager } from '@langchain/core/callbacks/manager';
import { RunnableLambda } from '@langchain/core/runnables';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callbacksOf, LeanCallbacks } from './lean-callbacks.ts';

class Named extends BaseCallbackHandler {
  name: string;
  constructor(name: string) {
    super({ _awaitHandler: true });
    this.name = name;
  }
}

const handlers = ['a', 'b', 'console_callback_handler'].map((name) => new Named(name));
const handler = fc.constantFrom(...handlers);
const labels = fc.dictionary(fc.constantFrom('k', 'l', 'm'), fc.integer({ max: 2, min: 0 }));
const tags = fc.array(fc.constantFrom('x', 'y', 'z'));
type Step = (manager: CallbackManager) => Promise<CallbackManager> | CallbackManager;

const changed = (change: (manager: CallbackManager) => void): Step => {
  return (manager) => {
    const before = stateOf(manager);
    const copy = manager.copy();
    change(copy);
    // Changes that one holder makes to its copy are not visible to others.
    expect(stateOf(manager)).toEqual(before);
    return copy;
  };
};

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.array(handler), fc.boolean()).map(
    ([more, inherit]): Step =>
      (manager) =>
        manager.copy(more, inherit),
  ),
  fc.tuple(handler, fc.boolean()).map(([one, inherit]) => changed((copy) => copy.addHandler(one, inherit))),
  handler.map((one) => changed((copy) => copy.removeHandler(one))),
  fc.tuple(tags, fc.boolean()).map(([some, inherit]) => changed((copy) => copy.addTags(some, inherit))),
  tags.map((some) => changed((copy) => copy.removeTags(some))),
  fc.tuple(labels, fc.boolean()).map(([some, inherit]) => changed((copy) => copy.addMetadata(some, inherit))),
  labels.map((some) => changed((copy) => copy.removeMetadata(some))),
  fc.option(fc.constantFrom('x', 'seq:step:1')).map(
    (tag): Step =>
      async (manager) =>
        (await manager.handleChainStart({} as never, {}, 'the-run')).getChild(tag ?? undefined),
  ),
  fc.constant<Step>(async (manager) =>
    (await manager.handleToolStart({} as never, 'input', 'the-tool')).getChild('t'),
  ),
);

const stateOf = (manager: CallbackManager) => ({
  handlers: manager.handlers.map(({ name }) => name),
  inheritable: manager.inheritableHandlers.map(({ name }) => name),
  tags: [...manager.tags],
  inheritableTags: [...manager.inheritableTags],
  metadata: { ...manager.metadata },
  inheritableMetadata: { ...manager.inheritableMetadata },
  parent: manager.getParentRunId(),
});

describe('lean callbacks', () => {
  it("behave like the engine's callback managers, for any operations", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const fields = () => ({ handlers: [handlers[0]!], inheritableHandlers: [handlers[0]!] });
        let lean: CallbackManager = new LeanCallbacks(undefined, fields());
        let plain = new CallbackManager(undefined, fields());
        for (const one of steps) {
          [lean, plain] = [await one(lean), await one(plain)];
          expect(stateOf(lean)).toEqual(stateOf(plain));
        }
        expect(lean).toBeInstanceOf(LeanCallbacks);
      }),
    );
  });

  it('are only for graphs with the same copy of LangChain', () => {
    const one = new Named('one');
    expect(
      callbacksOf(
        RunnableLambda.from(() => 1),
        [one],
      ),
    ).toBeInstanceOf(LeanCallbacks);
    expect(callbacksOf({ invoke: () => 1 }, [one])).toEqual([one]);
  });
});
