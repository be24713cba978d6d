// Repeats the text of its input, with the name of the user.
import { Annotation, type LangGraphRunnableConfig, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ text: Annotation<string>, answer: Annotation<string> });

const say = ({ text }: typeof State.State, { configurable }: LangGraphRunnableConfig) => ({
  answer: `${configurable?.['svc_auth_user_id']} says: ${text}`,
});

export const echo = new StateGraph(State).addNode('say', say).addEdge(START, 'say').compile();
