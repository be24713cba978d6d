// The buttons of the list: they act on the selected runs, or on all that match the filter.
import type { Run } from '@svc/sdk';
import { type ReactNode, useState, useSyncExternalStore } from 'react';
import { useAssistants } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { countText } from '../ui/number-text.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import { useBulkJobs } from './bulk-job-provider.tsx';
import { actionNames, type BulkAction, type BulkSelection } from './bulk-operation.ts';
import { isFiltered, type RunFilter } from './run-filter.ts';

const icons = { cancel: 'stop', retry: 'rerun' } as const;
const noSubscription = (): (() => void) => () => undefined;

/** One action at a time: its panel has place for one. */
const useIsWorking = (): boolean => {
  const { job } = useBulkJobs();
  return useSyncExternalStore(job?.subscribe ?? noSubscription, () => {
    const phase = job?.progress().phase;
    return phase === 'running' || phase === 'stopping';
  });
};

export const BulkActions = ({
  isHidden,
  filter,
  problem,
  selected,
  onStart,
  children,
}: {
  /** No button for an empty list; a dialog that is open stays. */
  isHidden: boolean;
  filter: RunFilter;
  /** The problem of the filter, if it is invalid. No action may start then. */
  problem: string | undefined;
  selected: readonly Run[];
  onStart: () => void;
  /** More buttons of the list. */
  children: ReactNode;
}): ReactNode => {
  const { start } = useBulkJobs();
  const assistants = useAssistants();
  const isWorking = useIsWorking();
  const [opened, setOpened] = useState<{ action: BulkAction; selection: BulkSelection }>();
  const selection: BulkSelection =
    selected.length > 0 ? { kind: 'rows', runs: selected } : { kind: 'filter', filter };
  const object =
    selected.length > 0
      ? `${countText(selected.length, 'run')} selected`
      : isFiltered(filter)
        ? 'all that match'
        : 'all runs';
  return (
    <div className="page-actions">
      {children}
      {(isHidden ? [] : (['cancel', 'retry'] as const)).map((action) => (
        <Button
          key={action}
          kind={action === 'cancel' ? 'danger' : undefined}
          disabled={problem !== undefined || isWorking}
          title={problem ?? (isWorking ? 'Another action is in progress' : undefined)}
          onClick={() => setOpened({ action, selection })}
        >
          <Icon name={icons[action]} size={12} /> {actionNames[action]} {object}…
        </Button>
      ))}
      {opened && (
        <BulkDialog
          {...opened}
          assistants={assistants.data ?? []}
          onStart={(job) => {
            setOpened(undefined);
            onStart();
            start(job);
          }}
          onClose={() => setOpened(undefined)}
        />
      )}
    </div>
  );
};
