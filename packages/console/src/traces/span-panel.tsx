// One span with its payloads.
import type { PlatformClient, TraceRun } from '@svc/sdk';
import type { ReactNode } from 'react';
import { StatusBadge } from '../ui/badge.tsx';
import { CopyId } from '../ui/copy-id.tsx';
import { Loaded } from '../ui/states.tsx';
import { Took } from '../ui/time.tsx';
import { JsonTree } from '../values/json-tree.tsx';
import { visibleText } from '../values/visible-text.ts';
import { costOf, tokensOf } from '../ui/token-text.ts';
import type { TreeRun } from './span-table.ts';
import { useSpan } from './trace-queries.ts';

export const SpanPanel = ({ client, span }: { client: PlatformClient; span: TreeRun }): ReactNode => {
  const query = useSpan(client, span.id, { isOpen: span.status === 'pending' });
  return (
    <section className="span-panel" aria-label="Selected span" tabIndex={0}>
      <header className="row">
        <h2>{visibleText(span.name)}</h2>
        <StatusBadge status={span.status} />
        <CopyId id={span.id} label="id of the trace run" />
      </header>
      <Loaded query={query}>{(run) => <SpanDetails run={run} />}</Loaded>
    </section>
  );
};

const SpanDetails = ({ run }: { run: TraceRun }): ReactNode => (
  <>
    {run.error !== null && (
      <div className="stack">
        <h3>Error</h3>
        <pre className="notice" data-tone="red">
          {visibleText(run.error)}
        </pre>
      </div>
    )}
    <Figures run={run} />
    <Payload title="Inputs" value={run.inputs} />
    <Payload title="Outputs" value={run.outputs} />
    <Payload title="Metadata" value={run.extra?.['metadata']} />
    {run.events !== null && run.events.length > 0 && <Payload title="Events" value={run.events} />}
  </>
);

const Figures = ({ run }: { run: TraceRun }): ReactNode => {
  const { start_time: start, end_time: end, first_token_time: firstToken } = run;
  return (
    <dl className="facts">
      <dt>Type</dt>
      <dd>{visibleText(run.run_type)}</dd>
      {start !== null && (
        <>
          <dt>Started</dt>
          <dd className="mono">{start}</dd>
        </>
      )}
      {start !== null && end !== null && (
        <>
          <dt>Took</dt>
          <dd>
            <Took from={start} to={end} />
          </dd>
        </>
      )}
      {start !== null && firstToken !== null && (
        <>
          <dt>First token after</dt>
          <dd>
            <Took from={start} to={firstToken} />
          </dd>
        </>
      )}
      {run.total_tokens !== null && (
        <>
          <dt>Tokens</dt>
          <dd>
            {tokensOf(run.total_tokens)}{' '}
            <span className="muted">
              {tokensOf(run.prompt_tokens)} in, {tokensOf(run.completion_tokens)} out
            </span>
          </dd>
        </>
      )}
      {run.total_cost !== null && (
        <>
          <dt>Cost</dt>
          <dd title={`${run.total_cost} US dollars`}>{costOf(run.total_cost)}</dd>
        </>
      )}
      {run.tags !== null && run.tags.length > 0 && (
        <>
          <dt>Tags</dt>
          <dd>{run.tags.map(visibleText).join(', ')}</dd>
        </>
      )}
    </dl>
  );
};

const Payload = ({ title, value }: { title: string; value: unknown }): ReactNode => (
  <div className="stack">
    <h3>{title}</h3>
    {value === null || value === undefined ? (
      <p className="muted">none</p>
    ) : (
      <JsonTree value={value} openDepth={3} />
    )}
  </div>
);
