import { useState, type ReactNode } from 'react';
import { Icon } from '../ui/icons.tsx';
import { inlineJson } from '../values/inline-json.ts';
import { JsonTree } from '../values/json-tree.tsx';
import { visibleText } from '../ui/visible-text.ts';
import { MediaBox } from './media-box.tsx';
import { parsedArgs, type Message, type ToolCall } from './read-messages.ts';

const charsMax = 120;
/** Images and files of a result that are shown. */
const mediaMax = 50;

const shortText = (value: unknown): string => {
  if (value === undefined) return '';
  if (typeof value !== 'string') return visibleText(inlineJson(value, charsMax));
  return visibleText(value.length > charsMax ? `${value.slice(0, charsMax)}…` : value);
};

/** One call of a tool, closed to one line: its name, its arguments, and its result when it has one. */
export const ToolCallBox = ({
  call,
  answer,
  noAnswer = 'no result yet',
}: {
  call: ToolCall;
  answer: Message | undefined;
  /** What is shown in place of an answer. */
  noAnswer?: string | undefined;
}): ReactNode => {
  const [isOpen, setOpen] = useState(false);
  const state = answer === undefined ? 'waiting' : answer.isError ? 'error' : 'done';
  return (
    <div className="tool-call" data-state={state}>
      <button
        type="button"
        className="tool-call-head"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="tool" size={14} />
        <span className="tool-call-name">{visibleText(call.name.slice(0, 200))}</span>
        <span className="tool-call-args">{shortText(call.args)}</span>
        <span className="tool-call-result">{answer === undefined ? noAnswer : shortText(answer.text)}</span>
      </button>
      {isOpen && (
        <div className="tool-call-body">
          <h3>Arguments</h3>
          <JsonTree value={call.args} openDepth={3} />
          {answer && (
            <>
              <h3>{answer.isError ? 'Error' : 'Result'}</h3>
              <JsonTree value={parsedArgs(answer.text)} openDepth={3} />
              {answer.media.slice(0, mediaMax).map((media, index) => (
                // The parts of a message do not change.
                <MediaBox key={index} media={media} />
              ))}
            </>
          )}
        </div>
      )}
    </div>
  );
};
