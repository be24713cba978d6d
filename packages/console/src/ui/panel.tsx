import type { ReactNode } from 'react';

/** A part of a page with a border and a title. */
export const Panel = ({
  title,
  label = title,
  aside,
  children,
}: {
  title: string;
  label?: string;
  /** Beside the title. */
  aside?: ReactNode;
  children: ReactNode;
}): ReactNode => (
  <section className="panel" aria-label={label}>
    <div className="panel-head">
      <h2>{title}</h2>
      {aside}
    </div>
    {children}
  </section>
);
