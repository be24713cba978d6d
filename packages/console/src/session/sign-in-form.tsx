// Takes the credential of the user, and exchanges it for a session. Nothing here stores it.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ConsoleSession, OidcFault } from '@svc/sdk';
import { useState, type ReactNode } from 'react';
import { apiUrl, consolePath } from '../app/addresses.ts';
import { Button } from '../ui/button.tsx';
import { ErrorNotice } from '../ui/states.tsx';
import { session } from './session.ts';
import './sign-in.css';

type SignIn = ConsoleSession['sign_in'];

const labelOf = ({ kind, header }: SignIn): string => {
  if (kind === 'header') return `Value of the header ${header}`;
  return kind === 'bearer' ? 'Token' : 'Key';
};

const hints: Record<SignIn['kind'], string> = {
  none: '',
  key: 'An API key of this server (SVC_API_KEY), or the key of a workspace for its traces.',
  bearer: 'The bearer token with which you call this server.',
  header: 'The console sends it with its requests, as your own clients do.',
  oidc: '',
  undeclared: '',
};

/** `isNewTab`: the page must stay, so a provider opens in another tab. */
export const SignInForm = ({
  signIn,
  isNewTab = false,
}: {
  signIn: SignIn;
  isNewTab?: boolean;
}): ReactNode => {
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const enter = useMutation({
    // A key is not kept in the state of the mutation either.
    gcTime: 0,
    mutationFn: () => session.signIn(signIn.kind === 'key' ? { key: text.trim() } : { token: text.trim() }),
    onSuccess: async () => {
      setText('');
      await queries.invalidateQueries();
    },
  });
  if (signIn.kind === 'undeclared') return <Undeclared />;
  if (signIn.kind === 'oidc') return <ProviderSignIn provider={signIn.provider} isNewTab={isNewTab} />;
  const isComplete = text.trim() !== '';
  return (
    <form
      className="sign-in-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete) enter.mutate();
      }}
    >
      <ErrorNotice error={enter.error} />
      {enter.data && <Opened opened={enter.data} />}
      {/* A password manager can keep the key, because the form has a name for it. */}
      <input type="hidden" autoComplete="username" value="svc console" readOnly />
      <label>
        {labelOf(signIn)}
        <input
          className="field mono"
          type="password"
          autoComplete="current-password"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <p className="muted">{hints[signIn.kind]}</p>
      <Button type="submit" kind="primary" disabled={!isComplete || enter.isPending}>
        Sign in
      </Button>
    </form>
  );
};

/** For a key that opens only a workspace. */
const Opened = ({ opened: { deployment, workspace } }: { opened: ConsoleSession }): ReactNode =>
  deployment === null && workspace !== null ? (
    <p className="notice" role="status">
      The key opens the traces of a workspace, with the role {workspace.role}. Threads and runs need an API
      key of this server.
    </p>
  ) : null;

const Undeclared = (): ReactNode => (
  <>
    <p className="muted">
      This server has custom authentication, and <code>svc.json</code> does not say what users enter here.
      Declare a bearer token, or a header:
    </p>
    <pre>{'"console": { "auth": { "kind": "bearer" } }'}</pre>
  </>
);

const faults: Record<OidcFault, string> = {
  denied: 'You have not signed in, or refused the access.',
  expired: 'The sign-in took longer than ten minutes, or was begun in another browser. Try again.',
  provider:
    'The provider cannot be reached, or its answer is not valid. The log of the server has the cause.',
  refused: 'You are signed in at the provider, but this server does not accept you. Ask whoever operates it.',
};

/** Read once: the page's own addresses do not keep it. */
const fault = new URLSearchParams(location.search).get('sign_in_error');

const isFault = (text: string | null): text is OidcFault => text !== null && text in faults;

const ProviderSignIn = ({
  provider,
  isNewTab,
}: {
  provider: string | null;
  isNewTab: boolean;
}): ReactNode => {
  const page = isNewTab || isFault(fault) ? `${consolePath}/` : location.pathname + location.search;
  const href = `${apiUrl}/console/auth/oidc/start?return_to=${encodeURIComponent(page)}`;
  return (
    <div className="sign-in-form">
      {!isNewTab && isFault(fault) && (
        <p className="notice" data-tone="red" role="alert">
          {faults[fault]}
        </p>
      )}
      <a
        className="button"
        data-kind="primary"
        href={href}
        {...(isNewTab ? { target: '_blank', rel: 'noopener' } : {})}
      >
        Sign in at {provider}
      </a>
      {isNewTab && <p className="muted">It opens in another tab. Come back to this one afterwards.</p>}
    </div>
  );
};
