import type { ReactNode } from 'react';
import { useGraph } from '../api/queries.ts';
import { readGraph } from '../graph/read-graph.ts';
import { SelectField } from '../ui/form-field.tsx';
import { nodeLabel } from './checkpoint-row.ts';

/** Chooses the node as which an update is written; undefined leaves it to the server. `wrote`: the nodes that wrote the checkpoint. */
export const AsNodeSelect = ({
  assistantId,
  wrote,
  node,
  onChange,
}: {
  assistantId: string | undefined;
  wrote: readonly string[];
  node: string | undefined;
  onChange: (node: string | undefined) => void;
}): ReactNode => {
  const graph = useGraph(assistantId);
  const nodes = graph.data ? readGraph(graph.data).nodes.filter(({ kind }) => kind === 'node') : [];
  const others = nodes.map(({ id }) => id).filter((id) => !wrote.includes(id));
  return (
    <SelectField
      label="As node"
      hint="The nodes that follow this one run next."
      value={node ?? ''}
      onChange={(value) => onChange(value === '' ? undefined : value)}
    >
      <Options label="Wrote this checkpoint" nodes={wrote} />
      <Options label="Other nodes" nodes={others} />
      <option value="">None: the node that wrote last</option>
    </SelectField>
  );
};

const Options = ({ label, nodes }: { label: string; nodes: readonly string[] }): ReactNode =>
  nodes.length > 0 && (
    <optgroup label={label}>
      {nodes.map((node) => (
        <option key={node} value={node}>
          {nodeLabel(node)}
        </option>
      ))}
    </optgroup>
  );
