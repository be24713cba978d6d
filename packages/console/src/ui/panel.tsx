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

/** A name and its content, in a `dl` of the class `facts`. A fact without content is left out. */
export const Fact = ({
  name,
  value,
  children = value,
}: {
  name: string;
  value?: ReactNode;
  /** The value, for JSX of several lines. */
  children?: ReactNode;
}): ReactNode =>
  children !== undefined &&
  children !== null &&
  children !== false && (
    <div className="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
