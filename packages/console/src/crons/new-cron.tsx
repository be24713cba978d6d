// Creates a cron for an assistant, on one thread or on a new one for each run.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { CronOptions } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { useAssistants } from '../api/queries.ts';
import { isId } from '../app/search-text.ts';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { JsonField } from '../values/json-field.tsx';
import { readJson } from '../values/read-json.ts';
import { scheduleWords } from './schedule.tsx';
import { visibleText } from '../values/visible-text.ts';

interface Draft {
  assistant: string;
  thread: string;
  schedule: string;
  timezone: string;
  keeps: boolean;
  input: string;
}

const toOptions = (draft: Draft, input: unknown): CronOptions => ({
  schedule: draft.schedule.trim(),
  timezone: draft.timezone.trim() || undefined,
  input: input as CronOptions['input'],
  ...(draft.thread === '' ? { on_run_completed: draft.keeps ? 'keep' : 'delete' } : {}),
});

export const NewCron = ({
  assistant,
  thread,
  onClose,
}: {
  assistant: string | undefined;
  thread: string | undefined;
  onClose: () => void;
}): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const assistants = useAssistants();
  const [draft, setDraft] = useState<Draft>({
    assistant: assistant ?? '',
    thread: thread ?? '',
    schedule: '',
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    keeps: true,
    input: '',
  });
  const chosen = draft.assistant || assistants.data?.[0]?.assistant_id;
  const input = readJson(draft.input);
  const create = useMutation({
    mutationFn: () =>
      client.crons.create(
        draft.thread || null,
        chosen ?? '',
        toOptions(draft, 'value' in input ? input.value : undefined),
      ),
    onSuccess: async ({ cron_id: cronId }) => {
      await queries.invalidateQueries({ queryKey: ['crons'] });
      await navigate({ to: '/crons/$cronId', params: { cronId } });
    },
  });
  const isValid =
    chosen !== undefined &&
    draft.schedule.trim() !== '' &&
    (draft.thread === '' || isId(draft.thread)) &&
    'value' in input;
  const submit = (): void => {
    if (isValid && !create.isPending) create.mutate();
  };
  return (
    <Dialog
      title="New cron"
      onClose={onClose}
      actions={
        <DialogActions
          action="Create"
          isDisabled={!isValid || create.isPending}
          onAction={submit}
          onClose={onClose}
        />
      }
    >
      <Fields
        draft={draft}
        chosen={chosen}
        onChange={(changed) => setDraft({ ...draft, ...changed })}
        onSubmit={submit}
      />
      <ErrorNotice error={create.error} />
    </Dialog>
  );
};

const Fields = ({
  draft,
  chosen,
  onChange,
  onSubmit,
}: {
  draft: Draft;
  chosen: string | undefined;
  onChange: (changed: Partial<Draft>) => void;
  onSubmit: () => void;
}): ReactNode => {
  const assistants = useAssistants();
  return (
    <>
      <label className="stack" style={{ gap: 4 }}>
        Assistant
        <select
          className="field"
          value={chosen ?? ''}
          onChange={(event) => onChange({ assistant: event.target.value })}
        >
          {assistants.data?.map(({ assistant_id: id, name }) => (
            <option key={id} value={id}>
              {visibleText(name)}
            </option>
          ))}
        </select>
      </label>
      <label className="stack" style={{ gap: 4 }}>
        Schedule: minute, hour, day of month, month, day of week
        <input
          className="field mono"
          placeholder="0 9 * * 1-5"
          value={draft.schedule}
          onChange={(event) => onChange({ schedule: event.target.value })}
        />
        <span className="muted" role="status">
          {scheduleWords(draft.schedule)}
        </span>
      </label>
      <label className="stack" style={{ gap: 4 }}>
        Time zone
        <input
          className="field"
          placeholder="UTC"
          value={draft.timezone}
          onChange={(event) => onChange({ timezone: event.target.value })}
        />
      </label>
      <label className="stack" style={{ gap: 4 }}>
        Thread id; empty for a new thread for each run
        <input
          className="field mono"
          value={draft.thread}
          aria-invalid={draft.thread !== '' && !isId(draft.thread)}
          onChange={(event) => onChange({ thread: event.target.value.trim() })}
        />
      </label>
      {draft.thread === '' && (
        <label className="row">
          <input
            type="checkbox"
            checked={draft.keeps}
            onChange={(event) => onChange({ keeps: event.target.checked })}
          />
          Keep the threads of its runs
        </label>
      )}
      <JsonField
        label="Input, as JSON"
        text={draft.input}
        onChange={(input) => onChange({ input })}
        onSubmit={onSubmit}
        rows={5}
      />
    </>
  );
};
