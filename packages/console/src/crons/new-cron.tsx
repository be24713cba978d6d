// Creates a cron for an assistant, on one thread or on a new one for each run.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { CronOptions } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { useAssistants } from '../api/queries.ts';
import { isId } from '../app/search-text.ts';
import { faultsOf, type Faults } from '../ui/faults.ts';
import { FormDialog } from '../ui/form-dialog.tsx';
import { FormProblems, SelectField, TextField } from '../ui/form-field.tsx';
import { useFieldsDraft } from '../ui/use-draft.ts';
import { JsonField } from '../values/json-field.tsx';
import { readExactJson } from '../values/read-json.ts';
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
  const initial: Draft = {
    assistant: assistant ?? '',
    thread: thread ?? '',
    schedule: '',
    timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    keeps: true,
    input: '',
  };
  const [draft, setDraft] = useFieldsDraft(`cron-${initial.assistant}-${initial.thread}`, initial);
  const chosen = draft.assistant || assistants.data?.[0]?.assistant_id;
  const input = readExactJson(draft.input);
  const create = useMutation({
    mutationFn: () =>
      client.crons.create(
        draft.thread || null,
        chosen ?? '',
        toOptions(draft, 'value' in input ? input.value : undefined),
      ),
    onSuccess: async ({ cron_id: cronId }) => {
      setDraft(initial);
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
  const faults = faultsOf(create.error, cronPaths);
  return (
    <FormDialog
      title="New cron"
      action="Create"
      isBusy={!isValid || create.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <Fields
        draft={draft}
        chosen={chosen}
        faults={faults}
        onChange={(changed) => {
          setDraft({ ...draft, ...changed });
          // Sentences that belong to another request would mislead.
          create.reset();
        }}
        onSubmit={submit}
      />
      <FormProblems sentences={faults.rest} />
    </FormDialog>
  );
};

/** The paths of the request that the form has fields for. */
const cronPaths = ['assistant_id', 'schedule', 'timezone'];

/** The server's sentences about a field may begin with the verb. */
const about = (subject: string, problem: string | undefined): string | undefined =>
  problem !== undefined && /^(is|must) /.test(problem) ? `${subject} ${problem}` : problem;

const Fields = ({
  draft,
  chosen,
  faults,
  onChange,
  onSubmit,
}: {
  draft: Draft;
  chosen: string | undefined;
  faults: Faults;
  onChange: (changed: Partial<Draft>) => void;
  onSubmit: () => void;
}): ReactNode => {
  const assistants = useAssistants();
  return (
    <>
      <SelectField
        label="Assistant"
        problem={faults.at.get('assistant_id')}
        value={chosen ?? ''}
        onChange={(value) => onChange({ assistant: value })}
      >
        {assistants.data?.map(({ assistant_id: id, name }) => (
          <option key={id} value={id}>
            {visibleText(name)}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Schedule: minute, hour, day of month, month, day of week"
        placeholder="0 9 * * 1-5"
        hint={<span role="status">{scheduleWords(draft.schedule)}</span>}
        text={draft.schedule}
        problem={about('The schedule', faults.at.get('schedule'))}
        onChange={(schedule) => onChange({ schedule })}
      />
      <TextField
        label="Time zone"
        placeholder="UTC"
        isMono={false}
        text={draft.timezone}
        problem={about('The time zone', faults.at.get('timezone'))}
        onChange={(timezone) => onChange({ timezone })}
      />
      <TextField
        label="Thread id; empty for a new thread for each run"
        text={draft.thread}
        problem={draft.thread === '' || isId(draft.thread) ? undefined : 'Enter the UUID of a thread.'}
        onChange={(thread) => onChange({ thread: thread.trim() })}
      />
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
