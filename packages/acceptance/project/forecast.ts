// A graph that sends a component to the page, and completes its props after the gate that the input names.
import { Annotation, START, StateGraph, type LangGraphRunnableConfig } from '@langchain/langgraph';
import { typedUi, uiMessageReducer, type UIMessage } from '@langchain/langgraph-sdk/react-ui/server';
import type ui from '../clients/browser/app/forecast-ui.tsx';
import { passGate } from './gate.ts';

const State = Annotation.Root({
  gate: Annotation<string>,
  ui: Annotation<UIMessage[]>({ reducer: uiMessageReducer, default: () => [] }),
});

const forecast = async ({ gate }: typeof State.State, config: LangGraphRunnableConfig) => {
  const components = typedUi<typeof ui>(config);
  const { id } = components.push({ name: 'forecast', props: { city: 'Oslo' } });
  await passGate(gate, config.signal);
  components.push({ id, name: 'forecast', props: { degrees: 21 } }, { merge: true });
  return {};
};

export const graph = new StateGraph(State).addNode('forecast', forecast).addEdge(START, 'forecast').compile();
