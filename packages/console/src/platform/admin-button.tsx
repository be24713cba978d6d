import { useState, type ReactNode } from 'react';
import { useIsLocal } from '../session/session.ts';
import { changeNeed, KeyDialog, type KeyNeed } from './key-gate.tsx';
import { Button } from '../ui/button.tsx';

/**
 * A button that only keys of a role may press, by default admin; `readOnly` says why others may not. Where nobody has entered a key, it asks for one.
 */
export const AdminButton = ({
  readOnly,
  kind,
  isBusy = false,
  need = changeNeed,
  onPress,
  children,
}: {
  readOnly: string | undefined;
  kind?: 'primary' | 'danger';
  isBusy?: boolean;
  need?: KeyNeed;
  onPress: () => void;
  children: ReactNode;
}): ReactNode => {
  const isLocal = useIsLocal();
  const [isAsking, setAsking] = useState(false);
  const asks = readOnly !== undefined && isLocal;
  // The key that was entered is enough.
  if (isAsking && readOnly === undefined) setAsking(false);
  return (
    <>
      <Button
        kind={kind}
        title={readOnly}
        disabled={(readOnly !== undefined && !asks) || isBusy}
        onClick={() => (asks ? setAsking(true) : onPress())}
      >
        {children}
      </Button>
      {isAsking && <KeyDialog need={need} onClose={() => setAsking(false)} />}
    </>
  );
};
