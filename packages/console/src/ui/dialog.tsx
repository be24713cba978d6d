import { useEffect, useId, useRef, useState, type ComponentProps, type ReactNode } from 'react';
import { rememberFocus } from './return-focus.ts';
import { ErrorNotice } from './states.tsx';
import { Button } from './button.tsx';
import { Icon } from './icons.tsx';

/** A modal dialog. The browser keeps the focus in it. Afterwards it returns to where it was. */
export const Dialog = ({
  title,
  isWide = false,
  onClose,
  children,
  actions,
}: {
  title: string;
  isWide?: boolean | undefined;
  onClose: () => void;
  children: ReactNode;
  actions?: ReactNode;
}): ReactNode => {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    const returnFocus = rememberFocus();
    dialog?.showModal();
    return () => {
      dialog?.close();
      returnFocus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      className="dialog"
      data-wide={isWide || undefined}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <div className="dialog-body">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
      {actions !== undefined && <div className="dialog-actions">{actions}</div>}
    </dialog>
  );
};

/** The buttons of a dialog: one that closes it, and one for its action. The children are other actions. */
export const DialogActions = ({
  action,
  kind = 'primary',
  isDisabled,
  onAction,
  onClose,
  children,
}: {
  action: string;
  kind?: 'primary' | 'danger';
  isDisabled: boolean;
  onAction: () => void;
  onClose: () => void;
  children?: ReactNode;
}): ReactNode => (
  <>
    <Button onClick={onClose}>Back</Button>
    {children}
    <Button kind={kind} disabled={isDisabled} onClick={onAction}>
      {action}
    </Button>
  </>
);

/** A request that a button sends. */
export interface ButtonRequest {
  isPending: boolean;
  error: Error | null;
  mutate: (variables: void, options?: { onSuccess?: () => void }) => void;
  reset: () => void;
}

/** Asks before something that cannot be undone. */
export const Confirm = ({
  title,
  action,
  request,
  onClose,
  children,
}: {
  title: string;
  action: string;
  request: ButtonRequest;
  onClose: () => void;
  children: ReactNode;
}): ReactNode => (
  <Dialog
    title={title}
    onClose={onClose}
    actions={
      <DialogActions
        action={action}
        kind="danger"
        isDisabled={request.isPending}
        onAction={() => request.mutate()}
        onClose={onClose}
      />
    }
  >
    {children}
    <ErrorNotice error={request.error} />
  </Dialog>
);

/** A button that asks first. `trigger` draws it. The question closes when the request has succeeded. */
export const AskFirst = ({
  trigger,
  request,
  ...question
}: Omit<ComponentProps<typeof Confirm>, 'onClose'> & {
  trigger: (ask: () => void) => ReactNode;
}): ReactNode => {
  const [isAsking, setAsking] = useState(false);
  const ask = (): void => {
    // An error of the last time would look like one of this time. A request in progress stays.
    if (request.error) request.reset();
    setAsking(true);
  };
  const close = (): void => setAsking(false);
  const closing = { ...request, mutate: () => request.mutate(undefined, { onSuccess: close }) };
  return (
    <>
      {trigger(ask)}
      {isAsking && <Confirm {...question} request={closing} onClose={close} />}
    </>
  );
};

/** A button that deletes an object, and asks first. */
export const DeleteButton = (question: Omit<ComponentProps<typeof AskFirst>, 'trigger'>): ReactNode => (
  <AskFirst
    trigger={(ask) => (
      <Button kind="danger" onClick={ask}>
        <Icon name="trash" size={14} /> Delete…
      </Button>
    )}
    {...question}
  />
);
