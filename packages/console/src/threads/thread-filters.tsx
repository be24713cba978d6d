import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { threadStatuses } from '../api/statuses.ts';
import { metadataProblem } from '../app/metadata-filter.ts';
import { isId } from '../app/search-text.ts';
import { GraphSelect } from '../graph/graph-select.tsx';
import { TimeSelect } from '../plots/time-select.tsx';
import { ChoiceChips, FilterField, FilterSelect } from '../ui/filters.tsx';
import { defaultOrder, threadOrders, type ThreadFilter, type ThreadOrder } from './thread-filter.ts';

interface FilterProps {
  filter: ThreadFilter;
  onChange: (changed: ThreadFilter) => void;
}

/** The option of an order, and the words about its time. */
const orders: Record<ThreadOrder, { option: string; label: string; names: string }> = {
  state_updated_at: {
    option: 'Newest state first',
    label: 'State changed',
    names: 'State changed in the last',
  },
  created_at: { option: 'Newest first', label: 'Created', names: 'Created in the last' },
  updated_at: { option: 'Newest change first', label: 'Changed', names: 'Changed in the last' },
};

export const ThreadFilters = ({ filter, onChange }: FilterProps): ReactNode => {
  const { status: chosen, graph, owner, sort = defaultOrder } = filter;
  const { label, names } = orders[sort];
  return (
    <div className="filters" role="search" aria-label="Filter of threads">
      <ChoiceChips
        label="Status"
        choices={threadStatuses.map((status) => [status, status])}
        chosen={chosen}
        onChange={(status) => onChange({ status: chosen === status ? undefined : status })}
      />
      <GraphSelect graph={graph} onChange={(changed) => onChange({ graph: changed })} />
      <FreeField filter={filter} onChange={onChange} />
      <FilterField
        aria-label="Owner"
        placeholder="owner: a user id"
        size={14}
        text={owner}
        onChange={(changed) => onChange({ owner: changed })}
      />
      <FilterSelect
        label="Order"
        choices={threadOrders.map((order) => [order, orders[order].option])}
        chosen={sort}
        onChange={(order) => onChange({ sort: order as ThreadOrder })}
      />
      <TimeSelect label={label} names={names} time={filter} onChange={onChange} />
    </div>
  );
};

/** An id opens its thread; `key:value` filters by metadata. */
const FreeField = ({ filter: { meta }, onChange }: FilterProps): ReactNode => {
  const navigate = useNavigate();
  return (
    <FilterField
      data-filter
      size={28}
      aria-label="Thread id, or metadata as key:value"
      placeholder="thread id, or metadata key:value"
      appliesOnBlur={false}
      text={meta}
      problemOf={metadataProblem}
      onChange={(text) => {
        if (text !== undefined && isId(text))
          void navigate({ to: '/threads/$threadId', params: { threadId: text } });
        else onChange({ meta: text });
      }}
    />
  );
};
