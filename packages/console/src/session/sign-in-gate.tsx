// Shows a page when its API is open to this browser, and the form for signing in otherwise. When the session ends while a page is in use, the
// page stays, and a dialog asks.
import { useLocation } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { useFocusOfNextPage } from '../ui/return-focus.ts';
import { Failure, Skeleton, State } from '../ui/states.tsx';
import { session, useSessionState } from './session.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Pages of the platform API, which ask for the key of a workspace themselves. */
const platformPages = /^\/(?:traces|exports|keys)(?:\/|$)/;

export const SignInGate = ({ children }: { children: ReactNode }): ReactNode => {
  const { session: known, isExpired } = useSessionState();
  const { pathname } = useLocation();
  const first = useQuery({
    queryKey: ['session'],
    queryFn: () => session.load(),
    enabled: known === undefined,
    staleTime: Infinity,
  });
  if (known === undefined)
    return first.error ? <Failure error={first.error} onRetry={() => void first.refetch()} /> : <Skeleton />;
  const isOpen = known.deployment !== null || isExpired;
  const isWorkspacePage = platformPages.test(pathname) && known.workspace !== null;
  return (
    <>
      {isOpen || isWorkspacePage ? children : <SignInPage signIn={known.sign_in} />}
      {isExpired && (
        <Dialog title="Your session has ended" onClose={() => undefined}>
          <p className="muted">Sign in again to continue. The page and its drafts stay as they are.</p>
          <SignInForm signIn={known.sign_in} isNewTab />
        </Dialog>
      )}
    </>
  );
};

const SignInPage = ({ signIn }: { signIn: Parameters<typeof SignInForm>[0]['signIn'] }): ReactNode => {
  useFocusOfNextPage();
  return (
    <div className="page">
      <div className="page-body" tabIndex={0} role="region" aria-label="Sign in">
        <State icon="lock" title="Sign in">
          <SignInForm signIn={signIn} />
        </State>
      </div>
    </div>
  );
};
