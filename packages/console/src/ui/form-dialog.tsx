import type { ReactNode } from 'react';
import { Dialog, DialogActions } from './dialog.tsx';

/** A dialog with a form: its button and the Enter key do the same, once at a time. */
export const FormDialog = ({
  title,
  action,
  isBusy,
  onSubmit,
  onClose,
  children,
}: {
  title: string;
  action: string;
  isBusy: boolean;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}): ReactNode => {
  const submit = (): void => {
    if (!isBusy) onSubmit();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={<DialogActions action={action} isDisabled={isBusy} onAction={submit} onClose={onClose} />}
    >
      <form
        className="form"
        autoComplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {children}
        {/* Without a button in the form, browsers ignore Enter when it has more than one field. */}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
};
