// Asks for an API key before anything of a workspace is read: the routes of traces, exports and keys need one, also where the rest of the API
// does not.
import { ApiError } from '@svc/sdk';
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { createPortal } from 'react-dom';
import { shellArgument } from '../api/snippets.ts';
import { isId } from '../app/search-text.ts';
import { session, useIsLocal, useSession } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { CopyText } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useFocusOfNextPage } from '../ui/return-focus.ts';
import { ErrorNotice, State } from '../ui/states.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useAccess } from './platform-access.ts';
import { isSufficient, type NeededRole } from './workspaces.ts';
import './key-gate.css';

/** What the key is needed for: the subject of sentences, and the role that is enough for all of it. */
export interface KeyNeed {
  what: string;
  role: NeededRole;
  /** True on a page that creates one. */
  creates?: boolean;
}

export const exportNeed = { what: 'Exports', role: 'viewer' } as const satisfies KeyNeed;

export const newExportNeed = { what: 'Exports', role: 'admin', creates: true } as const satisfies KeyNeed;

/** What a key is for where everybody may look. */
export const changeNeed = { what: 'Changes', role: 'admin' } as const satisfies KeyNeed;

/** Shows its children when the session has a key of a workspace, otherwise a form for the key. Children get the client from `usePlatform()`. */
export const KeyGate = ({ need, children }: { need: KeyNeed; children: ReactNode }): ReactNode => {
  const access = useAccess();
  const { role, is_local: isLocal } = useSession()?.workspace ?? {};
  // Where nobody has entered a key, the server would refuse what the page reads.
  const isLacking = isLocal === true && role !== undefined && !isSufficient(role, need.role);
  return access && !isLacking ? children : <KeyForm need={need} />;
};

const answers = ['traces', 'exports', 'workspaces'];

/** Nothing that was read with one key, or in one workspace, is shown with another. */
export const forgetAnswers = (queries: QueryClient): void => {
  for (const name of answers) queries.removeQueries({ queryKey: [name] });
};

/** Like `forgetAnswers`, and reads again what the page shows. Its queries have begun when the session has the key. */
const readAgain = async (queries: QueryClient): Promise<void> => {
  await Promise.all(answers.map((name) => queries.resetQueries({ queryKey: [name] })));
};

/** True for an answer that another key would change. */
export const needsOtherKey = (error: Error | null): boolean =>
  error instanceof ApiError && (error.status === 401 || error.status === 403);

interface KeyFormProps {
  need: KeyNeed;
  /** Why the key of the session is not enough. */
  refusal?: Error | null | undefined;
}

/** The role of the key that was refused, if another role would not be. */
const useLackingRole = ({ need, refusal }: KeyFormProps): string | undefined => {
  const role = useSession()?.workspace?.role;
  const isRefused = refusal instanceof ApiError && refusal.status === 403;
  return isRefused && role !== undefined && !isSufficient(role, need.role) ? role : undefined;
};

const useTitle = (form: KeyFormProps): string => {
  const { what, role } = form.need;
  return `${what} need ${useLackingRole(form) === undefined ? 'an API key' : `the role ${role}`}`;
};

/** The form in place of a page. */
export const KeyForm = (form: KeyFormProps): ReactNode => {
  useFocusOfNextPage();
  return (
    <div
      className="page-body"
      tabIndex={0}
      role="region"
      aria-label={`Access to ${form.need.what.toLowerCase()}`}
    >
      <State icon="lock" title={useTitle(form)}>
        <KeyFields {...form} />
      </State>
    </div>
  );
};

/** The form over a page, which stays. Not within the element of its button, which may be in a form itself. */
export const KeyDialog = ({ onClose, ...form }: KeyFormProps & { onClose: () => void }): ReactNode =>
  createPortal(
    <Dialog title={useTitle(form)} onClose={onClose} actions={<Button onClick={onClose}>Back</Button>}>
      <KeyFields {...form} />
    </Dialog>,
    document.body,
  );

/** Which key is needed. */
const KeyIntroduction = (form: KeyFormProps): ReactNode => {
  const { need } = form;
  const lacking = useLackingRole(form);
  const isLocal = useIsLocal();
  if (lacking !== undefined)
    return (
      <p>
        This key has the role {visibleText(lacking)}. {need.what} need a key with the role {need.role}.
      </p>
    );
  if (isLocal)
    return (
      <p className="muted">
        Everybody on this machine may look at the traces and exports of the workspace <code>default</code>.{' '}
        {need.what} need a key with the role {need.role}.
      </p>
    );
  return (
    <p className="muted">
      {need.what} belong to a workspace, and its routes always need a key.{' '}
      {need.role === 'viewer'
        ? 'A key that only reads is enough to look at them.'
        : `${need.creates ? 'Creating them needs' : 'They need'} a key with the role admin.`}
    </p>
  );
};

/** How to get a key, and the field for it. `file`: that of the key that the first start has generated. */
const KeyFields = ({ need, refusal }: KeyFormProps): ReactNode => {
  const file = useSession()?.deployment?.admin_key_file ?? undefined;
  const create = <CreateKey need={need} />;
  return (
    <>
      <KeyIntroduction need={need} refusal={refusal} />
      {file === undefined ? (
        create
      ) : (
        <div className="key-command copy-block">
          Show the key that the first start has generated:{' '}
          <CopyText text={`cat ${shellArgument(file)}`} label="the command that shows the key" />
        </div>
      )}
      <p>Paste it here, and press Enter. The server keeps it, encrypted, for the session of this browser.</p>
      <KeyEntry need={need} refusal={refusal} />
      {file !== undefined && (
        <details className="key-command">
          <summary className="muted">Create another key</summary>
          {create}
        </details>
      )}
    </>
  );
};

const CreateKey = ({ need }: { need: KeyNeed }): ReactNode => (
  <>
    <p className="key-command copy-block">
      <CopyText text={`npx svc keys create --role ${need.role} --data-dir DATA_FOLDER`} label="the command" />
    </p>
    <p className="muted">
      Replace <code>DATA_FOLDER</code>: the log of the server names its data folder when it starts. For a
      server with <code>DATABASE_URI</code>, set the same variable instead. The first start has written a key
      with the role admin to <code>admin-key</code> in this folder.
    </p>
  </>
);

/** A dialog focuses this element when it opens. React has no such attribute: its autoFocus acts before the dialog is open. */
const focusFirst = (field: HTMLInputElement | null): void => field?.setAttribute('autofocus', '');

const KeyEntry = ({ need, refusal }: KeyFormProps): ReactNode => {
  const queries = useQueryClient();
  // Nobody has entered the key that was refused.
  const isLocal = useIsLocal();
  const [apiKey, setKey] = useState('');
  const [workspace, setWorkspace] = useState('');
  const use = useMutation({
    gcTime: 0,
    mutationFn: async () => {
      const opened = await session.signIn({
        key: apiKey.trim(),
        workspace_id: workspace.trim() || undefined,
      });
      if (opened.workspace === null)
        throw new Error('The key opens no workspace: it is an API key of the server.');
      await readAgain(queries);
      const { role } = opened.workspace;
      if (!isSufficient(role, need.role))
        throw new Error(`This key has the role ${role}. ${need.what} need a key with the role ${need.role}.`);
    },
  });
  const isComplete = apiKey.trim() !== '' && (workspace.trim() === '' || isId(workspace.trim()));
  return (
    <form
      className="key-form"
      onSubmit={(event) => {
        event.preventDefault();
        // React passes the event on to the form of the button that has opened the dialog.
        event.stopPropagation();
        if (isComplete) use.mutate();
      }}
    >
      <ErrorNotice error={use.error ?? (isLocal ? undefined : refusal)} />
      {/* A password manager can keep the key, because the form has a name for it. */}
      <input type="hidden" autoComplete="username" value="svc" readOnly />
      <label>
        API key
        <input
          className="field mono"
          type="password"
          autoComplete="current-password"
          ref={focusFirst}
          value={apiKey}
          onChange={(event) => setKey(event.target.value)}
        />
      </label>
      <label>
        Workspace id, for a key with several workspaces
        <input
          className="field mono"
          value={workspace}
          aria-invalid={workspace.trim() !== '' && !isId(workspace.trim())}
          onChange={(event) => setWorkspace(event.target.value)}
        />
      </label>
      <Button type="submit" kind="primary" disabled={!isComplete || use.isPending}>
        Use this key
      </Button>
    </form>
  );
};

/** For a session that holds only a key that was entered: ends the session, and removes everything that was read with it. */
export const ForgetKey = (): ReactNode => {
  const queries = useQueryClient();
  const isLocal = useIsLocal();
  const isOnlyKey = useSession()?.sign_in.kind === 'none' && !isLocal;
  const forget = useMutation({
    mutationFn: () => session.signOut(),
    onSuccess: async () => {
      if (session.state().session?.workspace) await readAgain(queries);
      else forgetAnswers(queries);
    },
  });
  return isOnlyKey ? (
    <Button kind="plain" disabled={forget.isPending} onClick={() => forget.mutate()}>
      Forget the API key
    </Button>
  ) : null;
};

/**
 * A button for keys with a role, by default admin. `readOnly` says why the current key may not press it. Without a key, the button asks for one.
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
  // The user has entered a key with the role.
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
