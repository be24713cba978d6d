// The buttons of a list: they act on the selected rows, or on all that match the filter.
import type { Job, JobRequest } from '@svc/sdk';
import { type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { countText } from '../ui/number-text.ts';
import { JobDialog, type JobScope } from './job-dialog.tsx';
import { jobTexts } from './job-kinds.ts';
import type { WatchedJob } from './job-queries.ts';

export const JobActions = ({
  kinds,
  isHidden,
  problem,
  selected = [],
  isFiltered,
  filterOf,
  watched: { watch, liveKinds },
  onStart,
  children,
}: {
  kinds: readonly Job['kind'][];
  /** No button for an empty list; a dialog that is open stays. */
  isHidden: boolean;
  /** The problem of the filter, if it is invalid. No action may start then. */
  problem: string | undefined;
  /** The ids of the selected rows. */
  selected?: readonly string[];
  isFiltered: boolean;
  filterOf: () => NonNullable<JobRequest['filter']>;
  watched: WatchedJob;
  onStart?: () => void;
  /** More buttons of the list. */
  children: ReactNode;
}): ReactNode => {
  const [opened, setOpened] = useState<{ request: JobRequest; scope: JobScope }>();
  const scope: JobScope = selected.length > 0 ? 'selected' : isFiltered ? 'filter' : 'all';
  return (
    <div className="page-actions">
      {children}
      {(isHidden ? [] : kinds).map((kind) => {
        const { action, noun, icon, isDangerous } = jobTexts[kind];
        const objects = {
          selected: `${countText(selected.length, noun)} selected`,
          filter: 'all that match',
          all: `all ${noun}s`,
        };
        const isBusy = liveKinds.includes(kind);
        return (
          <Button
            key={kind}
            kind={isDangerous ? 'danger' : undefined}
            disabled={problem !== undefined || isBusy}
            title={problem ?? (isBusy ? 'Another job of this kind is in progress' : undefined)}
            onClick={() =>
              setOpened({
                scope,
                request: {
                  kind,
                  ...(scope === 'selected' ? { ids: [...selected] } : { filter: filterOf() }),
                },
              })
            }
          >
            <Icon name={icon} size={12} /> {action} {objects[scope]}…
          </Button>
        );
      })}
      {opened && (
        <JobDialog
          {...opened}
          onStart={(id) => {
            setOpened(undefined);
            watch(id);
            onStart?.();
          }}
          onClose={() => setOpened(undefined)}
        />
      )}
    </div>
  );
};
