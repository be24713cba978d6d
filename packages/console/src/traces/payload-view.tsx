// The inputs or outputs of a span: as messages where they have some, plainly for a tool, and as JSON otherwise or on request.
import type { ReactNode } from 'react';
import { MessageList } from '../messages/message-list.tsx';
import type { PayloadMessages } from '../messages/payload-messages.ts';
import { ChoiceChips } from '../ui/filters.tsx';
import { countText } from '../ui/number-text.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { PlainText } from '../values/plain-text.tsx';
import type { Payload, Side } from './payload.ts';

const messagesShown = 50;
/** A model may get several conversations at once. */
const conversationsShown = 10;

export const PayloadView = ({
  side,
  payload,
  form,
}: {
  side: Side;
  payload: Payload;
  form: PayloadForm;
}): ReactNode => {
  if (payload.kind === 'none') return <p className="muted">none</p>;
  if (payload.kind === 'json' || form === 'json') return <JsonTree value={payload.value} openDepth={3} />;
  if (payload.kind === 'messages') return <Conversations {...payload.found} side={side} />;
  const { shown, isError } = payload;
  return (
    <>
      {isError && <p className="payload-error">The tool has reported an error.</p>}
      {typeof shown === 'string' ? <PlainText text={shown} /> : <JsonTree value={shown} openDepth={3} />}
    </>
  );
};

const Conversations = ({ conversations, rest, side }: PayloadMessages & { side: Side }): ReactNode => {
  const left = conversations.length - conversationsShown;
  const hasMany = conversations.length > 1;
  return (
    <>
      {conversations.slice(0, conversationsShown).map((messages, index) => (
        <div key={index} className="payload-messages">
          {hasMany && (
            <p className="muted">
              {index + 1} of {conversations.length}
            </p>
          )}
          <MessageList
            messages={messages}
            label={`Messages of the ${side}${hasMany ? `, ${index + 1}` : ''}`}
            pageSize={messagesShown}
            noAnswer=""
          />
        </div>
      ))}
      {left > 0 && <p className="muted">The JSON has {countText(left, 'more list')} of messages.</p>}
      {rest !== undefined && (
        <div className="stack">
          <h4>Beside the messages</h4>
          <JsonTree value={rest} openDepth={1} />
        </div>
      )}
    </>
  );
};

/** Chooses between the two forms. */
export const PayloadFormSwitch = ({
  form,
  onForm,
}: {
  form: PayloadForm;
  onForm: (form: PayloadForm) => void;
}): ReactNode => (
  <ChoiceChips
    label="Form of inputs and outputs"
    choices={[
      ['rendered', 'Rendered'],
      ['json', 'JSON'],
    ]}
    chosen={form}
    onChange={onForm}
  />
);

/** How inputs and outputs are shown. `json`: as JSON, also where they have messages. */
export type PayloadForm = 'rendered' | 'json';

/** The address with this form, which holds for all spans of the page. */
export const withForm = <T extends { payload?: 'json' | undefined }>(search: T, form: PayloadForm): T => ({
  ...search,
  payload: form === 'json' ? form : undefined,
});
