// A graph that asks a human for approval. `interrupt` ends the run and leaves the thread interrupted, for any time and across
// restarts of the server. A later run with `command.resume` passes the answer to the graph.
import { Annotation, END, interrupt, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({
  topic: Annotation<string>,
  draft: Annotation<string>,
  decision: Annotation<'sent' | 'discarded'>,
});

interface Answer {
  approve: boolean;
  /** Replaces the draft. */
  edit?: string;
}

export const approval = new StateGraph(State)
  .addNode('write', ({ topic }) => ({ draft: `Dear all, a word about ${topic}.` }))
  .addNode('review', ({ draft }) => {
    const answer = interrupt<{ question: string; draft: string }, Answer>({ question: 'Send this?', draft });
    return {
      draft: answer.edit ?? draft,
      decision: answer.approve ? ('sent' as const) : ('discarded' as const),
    };
  })
  .addEdge(START, 'write')
  .addEdge('write', 'review')
  .addEdge('review', END)
  .compile();
