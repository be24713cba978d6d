import type { ReactNode } from 'react';

/** A button that only keys with the role admin may press; `readOnly` says why others may not. */
export const AdminButton = ({
  readOnly,
  kind,
  isBusy = false,
  onPress,
  children,
}: {
  readOnly: string | undefined;
  kind?: 'primary' | 'danger';
  isBusy?: boolean;
  onPress: () => void;
  children: ReactNode;
}): ReactNode => (
  <button
    type="button"
    className="button"
    data-kind={kind}
    title={readOnly}
    disabled={readOnly !== undefined || isBusy}
    onClick={onPress}
  >
    {children}
  </button>
);
