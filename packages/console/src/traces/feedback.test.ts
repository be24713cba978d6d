import { describe, expect, it } from 'vitest';
import { emptyDraft, feedbackOf, problemsOf } from './feedback.tsx';

const faultsAt = (changed: Partial<typeof emptyDraft>): string[] => [
  ...problemsOf({ ...emptyDraft, ...changed }).keys(),
];

describe('the form for feedback', () => {
  it('sends what was entered, without spaces around it', () => {
    expect(feedbackOf({ key: ' correct ', score: '0.5', comment: ' almost ' })).toEqual({
      key: 'correct',
      score: 0.5,
      comment: 'almost',
    });
    expect(feedbackOf({ key: 'correct', score: '-1', comment: '' })).toEqual({ key: 'correct', score: -1 });
    expect(feedbackOf({ key: 'note', score: '', comment: 'why?' })).toEqual({ key: 'note', comment: 'why?' });
  });

  it('needs a key, and a score or a comment', () => {
    expect(faultsAt({})).toEqual(['key', 'score']);
    expect(faultsAt({ key: ' ', score: '1' })).toEqual(['key']);
    expect(faultsAt({ key: 'correct', comment: ' ' })).toEqual(['score']);
  });

  it.each(['one', '1e999', '0x10', 'Infinity', '1,5', '.', '9'.repeat(400)])(
    'takes %s for no score',
    (score) => {
      expect(faultsAt({ key: 'correct', score })).toEqual(['score']);
    },
  );
});
