import type { ErrorComponentProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { State } from '../ui/states.tsx';

/** A page that threw while it was drawn. The rail stays. */
export const PageError = ({ error }: ErrorComponentProps): ReactNode => (
  <State icon="warning" title="This page has failed">
    <p className="muted" role="alert">
      {error instanceof Error ? error.message : String(error)}
    </p>
    <Button onClick={() => location.reload()}>Load it again</Button>
  </State>
);
