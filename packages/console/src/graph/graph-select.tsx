import type { ReactNode } from 'react';
import { useAssistants } from '../api/queries.ts';
import { FilterSelect } from '../ui/filters.tsx';

/** Chooses one of the graphs that have assistants; undefined for all of them. */
export const GraphSelect = ({
  graph,
  onChange,
}: {
  graph: string | undefined;
  onChange: (graph: string | undefined) => void;
}): ReactNode => {
  const assistants = useAssistants();
  const graphs = [...new Set(assistants.data?.map(({ graph_id: id }) => id))];
  return (
    <FilterSelect
      label="Graph"
      all="All graphs"
      choices={graphs.map((id) => [id, id])}
      chosen={graph}
      onChange={onChange}
    />
  );
};
