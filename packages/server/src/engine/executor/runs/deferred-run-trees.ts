// The engine passes the config of a step on in a context: a RunTree of LangSmith, which it creates for each step, also when nothing is
// traced. The ids, times and settings of these RunTrees take a third of the CPU time of a small graph, and only code that traces with
// LangSmith reads them.
import { CallbackManager, type Callbacks } from '@langchain/core/callbacks/manager';
import type { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';

type Provider = Pick<typeof AsyncLocalStorageProviderSingleton, 'getInstance' | 'runWithConfig'>;
type Context = Record<PropertyKey, unknown>;

interface StepConfig {
  callbacks?: Callbacks;
  tags?: string[];
  metadata?: Record<string, unknown>;
}

const childConfig = Symbol.for('lc:child_config');
const contextVariables = Symbol.for('lc:context_variables');

/** Gives untraced steps a context with the properties that the engine reads. It becomes a RunTree when another property is read. */
export const deferRunTrees = (provider: Provider): void => {
  const runWithConfig = provider.runWithConfig.bind(provider);
  const current = () => provider.getInstance().getStore() as Context | undefined;
  const createRunTree = (): Context =>
    provider.getInstance().run(undefined, () => runWithConfig(undefined, current)) as Context;
  let prototype: object | undefined;

  provider.runWithConfig = (config: StepConfig | undefined, work, avoidCreatingRootRunTree) => {
    if (avoidCreatingRootRunTree === true || isTraced(config))
      return runWithConfig(config, work, avoidCreatingRootRunTree);
    prototype ??= deferredPrototype(createRunTree);
    const context = Object.create(prototype) as Context;
    context['tracingEnabled'] = false;
    context['extra'] = { metadata: {}, [childConfig]: config };
    const variables = current()?.[contextVariables];
    if (variables !== undefined) context[contextVariables] = variables;
    return provider.getInstance().run(context, work);
  };
};

const isTraced = ({ callbacks, tags, metadata }: StepConfig = {}): boolean => {
  const manager = CallbackManager._configureSync(callbacks, undefined, tags, undefined, metadata);
  return manager?.handlers.some(({ name }) => name === 'langchain_tracer') === true;
};

/** The prototype of contexts. Reading a property that a context lacks gives it all properties of a new RunTree. */
const deferredPrototype = (createRunTree: () => Context): object => {
  const ofRunTree = Object.getPrototypeOf(createRunTree()) as object;
  return new Proxy(ofRunTree, {
    getPrototypeOf: () => ofRunTree, // for `instanceof`
    get(_, key, context: Context) {
      // The engine and LangSmith look for values of their own under symbols.
      if (typeof key === 'symbol') return Reflect.get(ofRunTree, key, context);
      const own = { ...context };
      Object.assign(Object.setPrototypeOf(context, ofRunTree) as Context, createRunTree(), own);
      return context[key];
    },
  });
};
