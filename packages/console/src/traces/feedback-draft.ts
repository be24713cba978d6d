// Feedback as it is entered, and what has to be corrected before it is sent.

export interface FeedbackDraft {
  key: string;
  /** A number as a text; empty for feedback without a score. */
  score: string;
  comment: string;
}

export const emptyDraft: FeedbackDraft = { key: '', score: '', comment: '' };

/** What has to be corrected before the feedback is sent, by field. */
export const problemsOf = (draft: FeedbackDraft): ReadonlyMap<string, string> => {
  const [score, comment] = [draft.score.trim(), draft.comment.trim()];
  const problems = new Map<string, string>();
  if (draft.key.trim() === '') problems.set('key', 'Name what the feedback is about.');
  if (score !== '' && !(/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(score) && Number.isFinite(Number(score))))
    problems.set('score', 'The score must be a number, such as 1 or 0.5.');
  if (score === '' && comment === '') problems.set('score', 'Enter a score, a comment, or both.');
  return problems;
};

/** The request, for a draft without problems. */
export const feedbackOf = (draft: FeedbackDraft): { key: string; score?: number; comment?: string } => {
  const [key, score, comment] = [draft.key.trim(), draft.score.trim(), draft.comment.trim()];
  return { key, ...(score !== '' && { score: Number(score) }), ...(comment !== '' && { comment }) };
};
