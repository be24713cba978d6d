import type { ReactNode } from 'react';
import { StoredPart } from '../stored/stored-part.ts';
import { isBranch } from './json-entries.ts';
import { JsonTree } from './json-tree.tsx';
import { Markdown } from './markdown.tsx';
import { visibleText } from '../ui/visible-text.ts';

/** The values of a state that has no conversation: each channel with its name. */
export const ChannelList = ({ values }: { values: unknown }): ReactNode => {
  if (!isBranch(values) || Array.isArray(values) || values instanceof StoredPart)
    return <JsonTree value={values} />;
  return (
    <dl className="channels">
      {Object.entries(values).map(([name, value]) => (
        <div key={name} className="channel">
          <dt>{visibleText(name)}</dt>
          <dd>
            {typeof value === 'string' ? <Markdown text={value} /> : <JsonTree value={value} openDepth={2} />}
          </dd>
        </div>
      ))}
    </dl>
  );
};
