// Forms that create or edit an object: the draft, its problems, and the request that sends it.
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Dialog, DialogActions } from './dialog.tsx';
import { faultsOf, withFaults } from './faults.ts';
import { Icon } from './icons.tsx';
import { useFieldsDraft } from './use-draft.ts';
import './form.css';

/** The names of the text fields of a draft. */
type TextOf<Draft> = { [Name in keyof Draft]: Draft[Name] extends string ? Name : never }[keyof Draft];

interface FormOptions<Draft, Result, Action> {
  initial: Draft;
  /** The name under which a reload of the page keeps the draft, until it is sent. Absent for secrets. */
  keptAs?: string;
  /** The paths of the request that the form has fields for, by field. */
  paths?: { readonly [Name in keyof Draft]?: string };
  /** Problems of a draft, by path. They are shown after the first attempt to send it, and nothing is sent until they are corrected. */
  problemsOf?: (draft: Draft) => ReadonlyMap<string, string>;
  /** False for a draft that cannot be sent. Its fields show why. */
  isReady?: (draft: Draft) => boolean;
  /** `action`: the button that was pressed, in a form with several. */
  send: (draft: Draft, action: Action) => Promise<Result>;
  onSent?: (result: Result) => unknown;
}

interface TextFieldProps<Value extends string> {
  value: Value;
  problem: string | undefined;
  onChange: (value: string) => void;
}

export interface Form<Draft, Result = unknown, Action = void> {
  draft: Draft;
  /** Changes fields, and removes the result and the errors of the last request, which had another draft. */
  change: (changed: Partial<Draft>) => void;
  /** The value of a field of text, its problem, and its changes. */
  field: <Name extends TextOf<Draft>>(name: Name) => TextFieldProps<Draft[Name] & string>;
  problemAt: (path: string) => string | undefined;
  /** Problems that belong to no field. */
  problems: readonly string[];
  /** Sends the draft, unless it is being sent or is not ready. */
  submit: (action: Action) => void;
  isReady: boolean;
  isBusy: boolean;
  /** The result of the last request. */
  result: Result | undefined;
}

const noProblems: ReadonlyMap<string, string> = new Map();

export const useForm = <Draft extends object, Result = unknown, Action = void>({
  initial,
  keptAs,
  paths = {},
  problemsOf = () => noProblems,
  isReady: isReadyWith = () => true,
  send,
  onSent,
}: FormOptions<Draft, Result, Action>): Form<Draft, Result, Action> => {
  const [draft, setDraft] = useFieldsDraft(keptAs, initial);
  const [hasAsked, setAsked] = useState(false);
  const request = useMutation<Result, Error, Action>({
    mutationFn: (action) => send(draft, action),
    onSuccess: async (result) => {
      if (keptAs !== undefined) setDraft(initial);
      await onSent?.(result);
    },
    // The cache would keep secrets for minutes after the form is closed.
    gcTime: 0,
  });
  const names: Readonly<Record<PropertyKey, string | undefined>> = paths;
  const known = Object.values(names).filter((path) => path !== undefined);
  const own = problemsOf(draft);
  const faults = withFaults(faultsOf(request.error, known), hasAsked ? own : noProblems);
  const isReady = isReadyWith(draft);
  const change = (changed: Partial<Draft>): void => {
    setDraft({ ...draft, ...changed });
    request.reset();
  };
  return {
    draft,
    change,
    field: (name) => ({
      value: draft[name] as Draft[typeof name] & string,
      problem: faults.at.get(names[name] ?? ''),
      onChange: (value) => change({ [name]: value } as Partial<Draft>),
    }),
    problemAt: (path) => faults.at.get(path),
    problems: faults.rest,
    submit: (action) => {
      setAsked(true);
      if (own.size > 0) request.reset();
      else if (isReady && !request.isPending) request.mutate(action);
    },
    isReady,
    isBusy: request.isPending,
    result: request.data,
  };
};

/** Problems that belong to no field of the form. */
export const FormProblems = ({ sentences }: { sentences: readonly string[] }): ReactNode =>
  sentences.length > 0 && (
    <div className="notice" data-tone="red" role="alert">
      <Icon name="warning" />
      <span className="notice-text">{sentences.join(' ')}</span>
    </div>
  );

/** The fields of a form, and below them its problems. Enter in a field does the same as the button of the form. */
export const FormFields = ({
  label,
  className = '',
  problems,
  onSubmit,
  children,
  actions,
}: {
  label?: string;
  className?: string;
  problems: readonly string[];
  onSubmit: () => void;
  children: ReactNode;
  actions?: ReactNode;
}): ReactNode => (
  <form
    className={`form ${className}`}
    aria-label={label}
    autoComplete="off"
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  >
    {children}
    <FormProblems sentences={problems} />
    {actions}
    {/* Without a submit button, browsers ignore Enter when the form has more than one field. */}
    <button type="submit" hidden />
  </form>
);

/** A form in a dialog. */
export const FormDialog = ({
  title,
  isWide,
  action,
  form: { isReady, isBusy, problems, submit },
  onClose,
  children,
}: {
  title: string;
  isWide?: boolean;
  action: string;
  form: Pick<Form<object>, 'isReady' | 'isBusy' | 'problems' | 'submit'>;
  onClose: () => void;
  children: ReactNode;
}): ReactNode => (
  <Dialog
    title={title}
    isWide={isWide}
    onClose={onClose}
    actions={
      <DialogActions action={action} isDisabled={!isReady || isBusy} onAction={submit} onClose={onClose} />
    }
  >
    <FormFields problems={problems} onSubmit={submit}>
      {children}
    </FormFields>
  </Dialog>
);
