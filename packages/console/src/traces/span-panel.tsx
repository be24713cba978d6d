// One span with its payloads and its feedback.
import type { TraceRun } from '@svc/sdk';
import { type ReactNode, useMemo } from 'react';
import { TraceBadge } from '../ui/badge.tsx';
import { CopyId } from '../ui/copy.tsx';
import { costOf, tokensOf } from '../ui/number-text.ts';
import { Fact } from '../ui/panel.tsx';
import { Loaded } from '../ui/states.tsx';
import { Took } from '../ui/time.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { FeedbackPart } from './feedback.tsx';
import { type PayloadForm, PayloadFormSwitch, PayloadView } from './payload-view.tsx';
import { type Payload, readPayload } from './payload.ts';
import type { Span, TreeRun } from './span-table.ts';
import { useSpan } from './trace-queries.ts';

interface FormProps {
  form: PayloadForm;
  onForm: (form: PayloadForm) => void;
}

export const SpanPanel = ({
  span,
  sums,
  ...formProps
}: { span: TreeRun; sums?: Sums | undefined } & FormProps): ReactNode => {
  const query = useSpan(span.id, { isOpen: span.status === 'pending' });
  return (
    <section className="span-panel" aria-label="Selected span" tabIndex={0}>
      <header className="row">
        <h2>{visibleText(span.name)}</h2>
        <TraceBadge of={span} />
        <CopyId id={span.id} label="id of the trace run" />
      </header>
      <Loaded query={query}>{(run) => <SpanDetails run={run} sums={sums} {...formProps} />}</Loaded>
    </section>
  );
};

const isRendered = ({ kind }: Payload): boolean => kind === 'messages' || kind === 'tool';

const SpanDetails = ({
  run,
  sums,
  form,
  onForm,
}: { run: TraceRun; sums: Sums | undefined } & FormProps): ReactNode => {
  const { run_type: runType, inputs, outputs, error, events } = run;
  const given = useMemo(() => readPayload(runType, 'inputs', inputs), [runType, inputs]);
  const made = useMemo(() => readPayload(runType, 'outputs', outputs), [runType, outputs]);
  return (
    <>
      {error !== null && (
        <Part title="Error">
          <pre className="notice" data-tone="red">
            {visibleText(error)}
          </pre>
        </Part>
      )}
      <Figures run={run} sums={sums} />
      {[given, made].some(isRendered) && <PayloadFormSwitch form={form} onForm={onForm} />}
      <Part title="Inputs">
        <PayloadView side="inputs" payload={given} form={form} />
      </Part>
      <Part title="Outputs">
        <PayloadView side="outputs" payload={made} form={form} />
      </Part>
      <FeedbackPart runId={run.id} />
      <Json title="Metadata" value={run.extra?.['metadata']} />
      {events !== null && events.length > 0 && <Json title="Events" value={events} />}
    </>
  );
};

/** Tokens and cost of the span with all below it. */
type Sums = Pick<Span, 'tokens' | 'cost'>;

const Figures = ({ run, sums }: { run: TraceRun; sums: Sums | undefined }): ReactNode => {
  const { start_time: start, end_time: end, first_token_time: firstToken } = run;
  return (
    <dl className="facts">
      <Fact name="Type" value={visibleText(run.run_type)} />
      <Fact name="Started" value={start !== null && <span className="mono">{start}</span>} />
      <Fact name="Took" value={start !== null && end !== null && <Took from={start} to={end} />} />
      <Fact
        name="First token after"
        value={start !== null && firstToken !== null && <Took from={start} to={firstToken} />}
      />
      <Fact
        name="Tokens"
        value={
          run.total_tokens === null ? (
            typeof sums?.tokens === 'number' && `${tokensOf(sums.tokens)} below it`
          ) : (
            <>
              {tokensOf(run.total_tokens)}{' '}
              <span className="muted">
                {tokensOf(run.prompt_tokens)} in, {tokensOf(run.completion_tokens)} out
              </span>
            </>
          )
        }
      />
      <Fact
        name="Cost"
        value={
          run.total_cost === null ? (
            typeof sums?.cost === 'number' && `${costOf(String(sums.cost))} below it`
          ) : (
            <span title={`${run.total_cost} US dollars`}>{costOf(run.total_cost)}</span>
          )
        }
      />
      <Fact
        name="Tags"
        value={run.tags !== null && run.tags.length > 0 && run.tags.map(visibleText).join(', ')}
      />
    </dl>
  );
};

const Part = ({ title, children }: { title: string; children: ReactNode }): ReactNode => (
  <div className="stack">
    <h3>{title}</h3>
    {children}
  </div>
);

const Json = ({ title, value }: { title: string; value: unknown }): ReactNode => (
  <Part title={title}>
    {value === null || value === undefined ? (
      <p className="muted">none</p>
    ) : (
      <JsonTree value={value} openDepth={3} />
    )}
  </Part>
);
