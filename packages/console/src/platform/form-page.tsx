import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { type Form, FormFields } from '../ui/form.tsx';
import { AdminButton } from './key-gate.tsx';
import { useReadOnly } from './workspaces.ts';

/** A page with a form that creates an object of a workspace. Only keys with the role admin may create it. */
export const FormPage = ({
  title,
  list,
  action,
  form: { isBusy, problems },
  trial,
  onCreate,
  children,
}: {
  title: string;
  /** Leads to the list of what the form creates. */
  list: ReactNode;
  action: string;
  form: Pick<Form<object>, 'isBusy' | 'problems'>;
  /** A request that creates nothing and that every key may send. Enter sends it as well. */
  trial?: { action: string; onTry: () => void };
  onCreate: () => void;
  children: ReactNode;
}): ReactNode => {
  const readOnly = useReadOnly();
  const submit = trial?.onTry ?? (readOnly === undefined ? onCreate : () => undefined);
  const actions = (
    <div className="row">
      {trial && (
        <Button disabled={isBusy} onClick={trial.onTry}>
          {trial.action}
        </Button>
      )}
      <AdminButton readOnly={readOnly} kind="primary" isBusy={isBusy} onPress={onCreate}>
        {action}
      </AdminButton>
      {readOnly !== undefined && <span className="muted">{readOnly}.</span>}
    </div>
  );
  return (
    <>
      <header className="page-head">
        <h1>{title}</h1>
        <div className="page-actions">{list}</div>
      </header>
      <div className="page-body pad" tabIndex={0} role="region" aria-label={title}>
        <FormFields problems={problems} onSubmit={submit} actions={actions}>
          {children}
        </FormFields>
      </div>
    </>
  );
};
