// Leads to the team's own provider. The server sends the browser back to this page.
import type { ReactNode } from 'react';
import type { OidcFault } from '@svc/sdk';
import { apiUrl, consolePath } from '../app/addresses.ts';

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

export const ProviderSignIn = ({
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
