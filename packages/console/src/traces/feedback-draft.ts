// Feedback as it is entered, and what has to be corrected before it is sent.

export interface FeedbackDraft {
  key: string;
  /** A number as a text; empty for feedback without a score. */
  score: string;
  comment: string;
}

export interface FeedbackGiven {
  key: string;
  score?: number;
  comment?: string;
}

export const emptyDraft: FeedbackDraft = { key: '', score: '', comment: '' };

/** The request, or sentences by field. */
export const readDraft = (
  draft: FeedbackDraft,
): { given: FeedbackGiven } | { faults: ReadonlyMap<string, string> } => {
  const [key, score, comment] = [draft.key, draft.score, draft.comment].map((text) => text.trim()) as [
    string,
    string,
    string,
  ];
  const faults = new Map<string, string>();
  if (key === '') faults.set('key', 'Name what the feedback is about.');
  if (score !== '' && !(/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(score) && Number.isFinite(Number(score))))
    faults.set('score', 'The score must be a number, such as 1 or 0.5.');
  if (score === '' && comment === '') faults.set('score', 'Enter a score, a comment, or both.');
  if (faults.size > 0) return { faults };
  return {
    given: {
      key,
      ...(score === '' ? {} : { score: Number(score) }),
      ...(comment === '' ? {} : { comment }),
    },
  };
};
