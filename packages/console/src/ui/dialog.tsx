import { useEffect, useId, useRef, type ReactNode } from 'react';
import { rememberFocus } from './return-focus.ts';

/** A modal dialog. The browser keeps the focus in it. Afterwards it returns to where it was. */
export const Dialog = ({
  title,
  isWide = false,
  onClose,
  children,
  actions,
}: {
  title: string;
  isWide?: boolean;
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
    <button type="button" className="button" onClick={onClose}>
      Back
    </button>
    {children}
    <button type="button" className="button" data-kind={kind} disabled={isDisabled} onClick={onAction}>
      {action}
    </button>
  </>
);

/** Asks before something that cannot be undone. */
export const Confirm = ({
  title,
  action,
  isBusy,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  action: string;
  isBusy: boolean;
  onConfirm: () => void;
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
        isDisabled={isBusy}
        onAction={onConfirm}
        onClose={onClose}
      />
    }
  >
    {children}
  </Dialog>
);
