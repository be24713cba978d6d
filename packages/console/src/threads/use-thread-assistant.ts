import type { Thread } from '@svc/sdk';
import { useAssistants } from '../api/queries.ts';

/** The assistant that the thread was used with; that of the graph when the thread does not name one. */
export const useThreadAssistant = ({ metadata }: Thread): string | undefined => {
  const assistants = useAssistants();
  const { assistant_id: id, graph_id: graph } = metadata;
  const known = assistants.data?.find((one) => one.assistant_id === id || one.graph_id === graph);
  return typeof id === 'string' ? id : known?.assistant_id;
};
