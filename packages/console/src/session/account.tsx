// Who has signed in, what the session opens, and how to end it.
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { ConsoleSession } from '@svc/sdk';
import { changeNeed, KeyDialog } from '../platform/key-gate.tsx';
import { useAccess } from '../platform/platform-access.ts';
import { useWorkspaces } from '../platform/workspaces.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { Moment } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { SessionList } from './session-list.tsx';
import { session, useIsLocal, useSession } from './session.ts';
import './sign-in.css';

export const Account = (): ReactNode => {
  const current = useSession();
  const isLocal = useIsLocal();
  if (current === undefined || current.csrf_token === null) return null;
  return isLocal ? <EnterKey /> : <SignedIn current={current} />;
};

const EnterKey = (): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="plain" onClick={() => setOpen(true)}>
        Enter an API key
      </Button>
      {isOpen && <KeyDialog need={changeNeed} onClose={() => setOpen(false)} />}
    </>
  );
};

const SignedIn = ({ current }: { current: ConsoleSession }): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="plain" onClick={() => setOpen(true)}>
        {current.deployment?.identity ?? 'Account'}
      </Button>
      {isOpen && <AccountDialog current={current} onClose={() => setOpen(false)} />}
    </>
  );
};

const AccountDialog = ({ current, onClose }: { current: ConsoleSession; onClose: () => void }): ReactNode => {
  const leave = useMutation({
    mutationFn: (options: { everywhere: boolean }) => session.signOut(options),
    onSuccess: () => {
      // Drafts and everything that was read belong to the user who leaves.
      sessionStorage.clear();
      location.reload();
    },
  });
  return (
    <Dialog
      title="Account"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button kind="danger" disabled={leave.isPending} onClick={() => leave.mutate({ everywhere: true })}>
            Sign out everywhere
          </Button>
          <Button
            kind="primary"
            disabled={leave.isPending}
            onClick={() => leave.mutate({ everywhere: false })}
          >
            Sign out
          </Button>
        </>
      }
    >
      <ErrorNotice error={leave.error} />
      <dl className="account-facts">
        <dt>Threads and runs</dt>
        <dd>{deploymentOf(current)}</dd>
        <dt>Workspace</dt>
        <dd>{current.workspace ? <OpenWorkspace {...current.workspace} /> : 'not open'}</dd>
        <dt>Session ends</dt>
        <dd>{current.expires_at !== null && <Moment at={current.expires_at} />}</dd>
      </dl>
      <SessionList />
      <p className="muted">
        Signing out everywhere ends the sessions of all browsers that have signed in
        {current.deployment?.identity ? ' as this user.' : ' with this key.'}
      </p>
    </Dialog>
  );
};

const OpenWorkspace = ({ id, role }: NonNullable<ConsoleSession['workspace']>): ReactNode => {
  const access = useAccess();
  return (
    <span title={id}>
      {access ? <WorkspaceName id={id} /> : id} as {role}
    </span>
  );
};

/** The id while the name is not known. */
const WorkspaceName = ({ id }: { id: string }): ReactNode => {
  const { data = [] } = useWorkspaces();
  return visibleText(data.find((workspace) => workspace.id === id)?.display_name ?? id);
};

const deploymentOf = ({ deployment, sign_in: { kind } }: ConsoleSession): string => {
  if (deployment === null) return 'not open';
  if (deployment.identity !== null) return `open as ${deployment.identity}`;
  return kind === 'none' ? 'open to everybody on this machine' : 'open with an API key';
};
