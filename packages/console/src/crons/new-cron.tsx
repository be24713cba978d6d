// Creates a cron for an assistant, on one thread or on a new one for each run.
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { CronOptions } from '@svc/sdk';
import type { ReactNode } from 'react';
import { useClient } from '../api/client.tsx';
import { useAssistants } from '../api/queries.ts';
import { isId } from '../app/search-text.ts';
import { CheckField, SelectField, TextField } from '../ui/form-field.tsx';
import { FormDialog, useForm } from '../ui/form.tsx';
import { JsonField } from '../values/json-field.tsx';
import { readExactJson } from '../values/read-json.ts';
import { scheduleWords } from './schedule.tsx';

interface Draft {
  assistant: string;
  thread: string;
  schedule: string;
  timezone: string;
  keeps: boolean;
  input: string;
}

const toOptions = (draft: Draft): CronOptions => {
  const input = readExactJson(draft.input);
  return {
    schedule: draft.schedule.trim(),
    timezone: draft.timezone.trim() || undefined,
    input: ('value' in input ? input.value : undefined) as CronOptions['input'],
    ...(draft.thread === '' ? { on_run_completed: draft.keeps ? 'keep' : 'delete' } : {}),
  };
};

const isReady = ({ schedule, thread, input }: Draft): boolean =>
  schedule.trim() !== '' && (thread === '' || isId(thread)) && 'value' in readExactJson(input);

/** Adds the subject to an error of the server that begins with its verb. */
const about = <Field extends { problem: string | undefined }>(subject: string, field: Field): Field =>
  field.problem !== undefined && /^(is|must) /.test(field.problem)
    ? { ...field, problem: `${subject} ${field.problem}` }
    : field;

export const NewCron = ({
  assistant = '',
  thread = '',
  onClose,
}: {
  assistant: string | undefined;
  thread: string | undefined;
  onClose: () => void;
}): ReactNode => {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { data: assistants = [] } = useAssistants();
  const chosenIn = (draft: Draft): string => draft.assistant || (assistants[0]?.assistant_id ?? '');
  const form = useForm<Draft, { cron_id: string }>({
    initial: {
      assistant,
      thread,
      schedule: '',
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      keeps: true,
      input: '',
    },
    keptAs: `cron-${assistant}-${thread}`,
    paths: { assistant: 'assistant_id', schedule: 'schedule', timezone: 'timezone' },
    isReady: (draft) => chosenIn(draft) !== '' && isReady(draft),
    send: (draft) => client.crons.create(draft.thread || null, chosenIn(draft), toOptions(draft)),
    onSent: async ({ cron_id: cronId }) => {
      onClose();
      await queries.invalidateQueries({ queryKey: ['crons'] });
      await navigate({ to: '/crons/$cronId', params: { cronId } });
    },
  });
  const { draft, field, change } = form;
  return (
    <FormDialog title="New cron" action="Create" form={form} onClose={onClose}>
      <SelectField
        label="Assistant"
        choices={assistants.map(({ assistant_id: id, name }) => [id, name])}
        {...field('assistant')}
        value={chosenIn(draft)}
      />
      <TextField
        label="Schedule: minute, hour, day of month, month, day of week"
        placeholder="0 9 * * 1-5"
        hint={<span role="status">{scheduleWords(draft.schedule)}</span>}
        {...about('The schedule', field('schedule'))}
      />
      <TextField
        label="Time zone"
        placeholder="UTC"
        isMono={false}
        {...about('The time zone', field('timezone'))}
      />
      <TextField
        label="Thread id; empty for a new thread for each run"
        value={draft.thread}
        problem={draft.thread === '' || isId(draft.thread) ? undefined : 'Enter the UUID of a thread.'}
        onChange={(text) => change({ thread: text.trim() })}
      />
      {draft.thread === '' && (
        <CheckField
          label="Keep the threads of its runs"
          isChecked={draft.keeps}
          onChange={(keeps) => change({ keeps })}
        />
      )}
      <JsonField label="Input, as JSON" {...field('input')} onSubmit={form.submit} rows={5} />
    </FormDialog>
  );
};
