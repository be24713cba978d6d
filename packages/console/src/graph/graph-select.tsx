import type { ReactNode } from 'react';
import { useAssistants } from '../api/queries.ts';

/** Chooses one of the graphs that have assistants; undefined for all of them. */
export const GraphSelect = ({
  graph,
  onChange,
}: {
  graph: string | undefined;
  onChange: (graph: string | undefined) => void;
}): ReactNode => {
  const assistants = useAssistants();
  const graphs = [...new Set(assistants.data?.map(({ graph_id: id }) => id))].toSorted();
  return (
    <select
      className="field"
      aria-label="Graph"
      value={graph ?? ''}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      <option value="">All graphs</option>
      {graphs.map((id) => (
        <option key={id}>{id}</option>
      ))}
    </select>
  );
};
