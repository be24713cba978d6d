// Shows the rows of a job before it starts: their number, and the first ones.
import type { JobPreview, JobRequest } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useClient, useServerQuery } from '../api/client.tsx';
import { DataTable } from '../ui/data-table.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/form-field.tsx';
import { countText } from '../ui/number-text.ts';
import { ErrorNotice, Loaded } from '../ui/states.tsx';
import { jobName, jobTexts } from './job-kinds.ts';
import { previewColumns } from './job-rows.tsx';
import './jobs.css';

export type JobScope = 'selected' | 'filter' | 'all';

/** More rows than this need their number typed. */
const askedFrom = 100;

/** The server makes the preview once: the job is for exactly the rows that are shown. */
const usePreview = (request: JobRequest) => {
  const [id] = useState(() => crypto.randomUUID());
  return useServerQuery({
    queryKey: ['job preview', id],
    read: (client, call): Promise<JobPreview> => client.jobs.create(request, call),
    staleTime: Infinity,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
};

export const JobDialog = ({
  request,
  scope,
  onStart,
  onClose,
}: {
  request: JobRequest;
  scope: JobScope;
  onStart: (id: string) => void;
  onClose: () => void;
}): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const preview = usePreview(request);
  const [typed, setTyped] = useState('');
  const { action, noun, isDangerous, effect, nothing } = jobTexts[request.kind];
  const { job_id: id = '', total = 0 } = preview.data ?? {};
  const start = useMutation({
    mutationFn: () => client.jobs.start(id),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['jobs'] });
      onStart(id);
    },
  });
  const close = (): void => {
    // A preview that is left expires by itself.
    if (id !== '') client.jobs.cancel(id).catch(() => undefined);
    onClose();
  };
  const isAsked = total > askedFrom;
  const isConfirmed = total > 0 && (!isAsked || typed.replaceAll(/[\s,]/g, '') === String(total));
  return (
    <Dialog
      title={jobName(request)}
      onClose={close}
      actions={
        <DialogActions
          action={preview.data ? `${action} ${countText(total, noun)}` : action}
          kind={isDangerous ? 'danger' : 'primary'}
          isDisabled={!isConfirmed || start.isPending}
          onAction={() => start.mutate()}
          onClose={close}
        />
      }
    >
      <Loaded query={preview}>
        {({ rows }) =>
          total === 0 ? (
            <p>{nothing}</p>
          ) : (
            <>
              <Scope scope={scope} text={countText(total, noun)} noun={noun} />
              <div
                className="job-sample"
                tabIndex={0}
                role="region"
                aria-label={`The first of these ${noun}s`}
              >
                <DataTable rows={rows} columns={previewColumns(noun)} keyOf={({ position }) => position} />
              </div>
              <p>{effect}</p>
              {isAsked && <TextField label={`Type ${total} to confirm`} value={typed} onChange={setTyped} />}
              <ErrorNotice error={start.error} />
            </>
          )
        }
      </Loaded>
    </Dialog>
  );
};

const Scope = ({ scope, text, noun }: { scope: JobScope; text: string; noun: string }): ReactNode =>
  scope === 'all' ? (
    <p className="notice" data-tone="amber">
      <span className="notice-text">
        <strong>{text}</strong>. There is no filter: these are all {noun}s that you may read.
      </span>
    </p>
  ) : (
    <p>
      <strong>{text}</strong> {scope === 'filter' ? 'matching the filter' : 'of the selected ones'}.
    </p>
  );
