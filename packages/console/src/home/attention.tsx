import { type ReactNode, useState } from 'react';
import { exportNeed, KeyDialog } from '../platform/key-gate.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { Panel } from '../ui/panel.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { useFailedRuns, useFailingCrons } from './failed-runs.tsx';
import { useFailingExports } from './failing-exports.tsx';
import { useFailingWebhooks } from './failing-webhooks.tsx';
import type { Finding, Findings } from './finding.tsx';
import { useServerState } from './queue-state.tsx';
import { useSlowRuns } from './slow-runs.tsx';
import { useStuckRuns } from './stuck-runs.tsx';
import { useWaitingThreads } from './waiting-threads.tsx';
import './attention.css';

const reasonMax = 300;

/** What somebody should look at: a server that cannot execute runs, runs that fail or do not end, open questions, and whatever fails else. */
export const Attention = ({
  isQuiet = false,
}: {
  /** Shows nothing while there is no finding. */ isQuiet?: boolean;
}): ReactNode => {
  const exports = useFailingExports();
  const sources: (Findings & { name: string })[] = [
    { name: 'workers', ...useServerState() },
    { name: 'stuck runs', ...useStuckRuns() },
    { name: 'failed runs', ...useFailedRuns() },
    { name: 'crons', ...useFailingCrons() },
    { name: 'open questions', ...useWaitingThreads() },
    { name: 'webhook deliveries', ...useFailingWebhooks() },
    ...(exports ? [{ name: 'exports', ...exports }] : []),
    { name: 'slow runs', ...useSlowRuns() },
  ];
  const all = sources.flatMap(({ found }) => found ?? []);
  const findings = [
    ...all.filter(({ tone }) => tone === 'red'),
    ...all.filter(({ tone }) => tone === 'amber'),
  ];
  const note = findings.length === 0 ? emptyNote(sources) : undefined;
  const unread = sources.filter(({ error }) => error !== null).map(({ name }) => name);
  if (isQuiet && findings.length === 0) return null;
  return (
    <Panel title="Needs attention">
      {findings.length > 0 && (
        <ul className="findings">
          {findings.map((finding) => (
            <FindingRow key={finding.key} finding={finding} />
          ))}
        </ul>
      )}
      {note !== undefined && <p className="muted finding-note">{note}</p>}
      {unread.length > 0 && <p className="muted finding-note">Could not be read: {unread.join(', ')}.</p>}
      {sources.map(
        ({ name, unexamined }) =>
          unexamined !== undefined && (
            <p key={name} className="muted finding-note">
              {unexamined}
            </p>
          ),
      )}
      {exports === undefined && <UncheckedExports />}
    </Panel>
  );
};

/** The dialog closes with the note, when the session has a key. */
const UncheckedExports = (): ReactNode => {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <p className="muted finding-note">
        Exports are not checked: they need an API key.{' '}
        <Button onClick={() => setAsking(true)}>Enter the key…</Button>
      </p>
      {isAsking && <KeyDialog need={exportNeed} onClose={() => setAsking(false)} />}
    </>
  );
};

const FindingRow = ({ finding: { tone, sentence, reason, links } }: { finding: Finding }): ReactNode => (
  <li className="finding" data-tone={tone}>
    <Icon name="warning" />
    <div className="finding-text">
      <strong>{visibleText(sentence)}</strong>
      {reason !== undefined && (
        <p className="muted" title={reason}>
          {visibleText(cutText(reason, reasonMax))}
        </p>
      )}
    </div>
    <div className="finding-links">{links}</div>
  </li>
);

/** The line of the panel without a finding. Undefined when nothing could be read: the panel names what that is. */
export const emptyNote = (
  sources: readonly Pick<Findings, 'found' | 'error' | 'unexamined'>[],
): string | undefined => {
  if (sources.some(({ found, error }) => found === undefined && error === null)) return 'Reading…';
  if (sources.every(({ found }) => found === undefined)) return undefined;
  return sources.every(({ error, unexamined }) => error === null && unexamined === undefined)
    ? 'Nothing: no run is stuck, has failed or was much slower than others, nobody is asked, no cron or delivery is failing.'
    : 'Nothing was found in what was read.';
};

/** At most `max` characters of a text, which ends with `…` after a whole word when it is cut. */
export const cutText = (text: string, max: number): string => {
  if (text.length <= max) return text;
  const cut = text.slice(0, max - 1);
  const space = cut.search(/\s\S*$/);
  // A text without spaces is cut within its word.
  return `${(space > max / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
};
