import type { ReactNode } from 'react';

/** A name and its content, in a `dl` of the class `facts`. A fact without content is left out. */
export const Fact = ({
  name,
  value,
  children = value,
}: {
  name: string;
  value?: ReactNode;
  /** The value, where it is longer than a line. */
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
