// While a question is open, the composer is folded: a new input would drop the question.
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { countText } from '../ui/number-text.ts';

export interface Folding {
  form: RefObject<HTMLFormElement | null>;
  isFolded: boolean;
  unfold: () => void;
  fold: () => void;
}

/** `hasDraft`: what is being written when a question comes stays visible. `onFold`: the focus was in the composer. */
export const useFolding = ({
  questions,
  hasDraft,
  onFold,
}: {
  questions: number;
  hasDraft: boolean;
  onFold: () => void;
}): Folding => {
  const form = useRef<HTMLFormElement>(null);
  const [isOpened, setOpened] = useState<boolean>();
  const isFolded = questions > 0 && !(isOpened ?? hasDraft);
  useEffect(() => {
    if (questions === 0) setOpened(undefined);
  }, [questions]);
  useEffect(() => {
    if (isOpened) form.current?.querySelector<HTMLElement>('textarea, input, select')?.focus();
  }, [isOpened]);
  const onFoldNow = useRef(onFold);
  onFoldNow.current = onFold;
  // Before the browser takes the focus from the hidden field.
  useLayoutEffect(() => {
    if (isFolded && form.current?.contains(document.activeElement)) onFoldNow.current();
  }, [isFolded]);
  return { form, isFolded, unfold: () => setOpened(true), fold: () => setOpened(false) };
};

const open = (questions: number): string => countText(questions, 'open question');

export const FoldedComposer = ({
  questions,
  onUnfold,
}: {
  questions: number;
  onUnfold: () => void;
}): ReactNode => (
  <div className="composer">
    <div className="row">
      <span className="muted">
        {open(questions)} above. A new input would drop {questions === 1 ? 'it' : 'them'}.
      </span>
      <button type="button" className="button spread" onClick={onUnfold}>
        Send another input instead
      </button>
    </div>
  </div>
);

export const DropNotice = ({ questions, onFold }: { questions: number; onFold: () => void }): ReactNode => (
  <p className="notice" data-tone="amber">
    Sending this drops {open(questions)}.
    <button type="button" className="button spread" onClick={onFold}>
      Back to the question
    </button>
  </p>
);
