import { ApiError } from '@svc/sdk';
import { expect, it } from 'vitest';
import { rejectedFilter } from './traces-view.tsx';

const refusal = (status: number, field: string): ApiError =>
  new ApiError(status, { detail: [{ loc: ['body', field], msg: 'no', type: 'value_error' }] }, 'id');

it('a filter is rejected by an error that names it', () => {
  const errors = ['filter', 'trace_filter'].map((field) => refusal(422, field));
  expect(errors.map(rejectedFilter)).toEqual(errors);
});

it('a filter is not rejected by errors that name something else, or nothing', () => {
  const errors = [
    refusal(422, 'end_time'),
    refusal(400, 'filter'),
    new ApiError(422, { detail: 'no' }, 'id'),
    new TypeError('fetch failed'),
    null,
  ];
  expect(errors.map(rejectedFilter)).toEqual(errors.map(() => undefined));
});
