import type { ComponentProps, ReactNode } from 'react';

/** A button that does not submit a form, unless it has this type. */
export const Button = ({
  kind,
  ...attributes
}: ComponentProps<'button'> & { kind?: 'primary' | 'danger' | 'plain' | undefined }): ReactNode => (
  <button type="button" className="button" data-kind={kind} {...attributes} />
);
