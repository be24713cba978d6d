// The default export is the graph; langgraph.json names only the file.
import { Annotation, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ word: Annotation<string>, count: Annotation<number> });

const plain = new StateGraph(State)
  .addNode('measure', ({ word }) => ({ count: word.length }))
  .addEdge(START, 'measure')
  .compile();

// oxlint-disable-next-line import/no-default-export -- this is what the project tests
export default plain;
