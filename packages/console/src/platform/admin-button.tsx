import { useState, type ReactNode } from 'react';
import { useIsLocal } from '../session/session.ts';
import { changeNeed, KeyDialog } from './key-gate.tsx';

/**
 * A button that only keys with the role admin may press; `readOnly` says why others may not. Where nobody has entered a key, it asks for one.
 */
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
}): ReactNode => {
  const isLocal = useIsLocal();
  const [isAsking, setAsking] = useState(false);
  const asks = readOnly !== undefined && isLocal;
  return (
    <>
      <button
        type="button"
        className="button"
        data-kind={kind}
        title={readOnly}
        disabled={(readOnly !== undefined && !asks) || isBusy}
        onClick={() => (asks ? setAsking(true) : onPress())}
      >
        {children}
      </button>
      {asks && isAsking && <KeyDialog need={changeNeed} onClose={() => setAsking(false)} />}
    </>
  );
};
