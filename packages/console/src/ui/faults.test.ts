import { ApiError } from '@svc/sdk';
import { expect, it } from 'vitest';
import { faultsOf, sentencesOf } from './faults.ts';

const refusal = (...faults: { loc: (string | number)[]; msg: string }[]): ApiError =>
  new ApiError(422, { detail: faults.map((fault) => ({ ...fault, type: 'value_error' })) }, 'id');

it('a fault is shown at its field, and at the list that has the element', () => {
  const { at, rest } = faultsOf(
    refusal(
      { loc: ['body', 'end_time'], msg: 'end_time is required' },
      { loc: ['body', 'export_fields', 3], msg: 'is no column' },
      { loc: ['body', 'config', 'bucket_name'], msg: 'is too short' },
    ),
    ['end_time', 'export_fields', 'config.bucket_name'],
  );
  expect([...at]).toEqual([
    ['end_time', 'end_time is required'],
    ['export_fields', 'is no column'],
    ['config.bucket_name', 'is too short'],
  ]);
  expect(rest).toEqual([]);
});

it('what belongs to no field is kept', () => {
  expect(faultsOf(refusal({ loc: ['body', 'layout_version'], msg: 'is unknown' }), ['filter']).rest).toEqual([
    'layout_version: is unknown',
  ]);
  expect(faultsOf(new ApiError(400, { detail: 'NoSuchBucket: …' }, 'id'), []).rest).toEqual([
    'NoSuchBucket: …',
  ]);
  expect(faultsOf(new TypeError('fetch failed'), []).rest).toEqual(['fetch failed']);
  expect(faultsOf(null, []).rest).toEqual([]);
});

it('a request without a response is a sentence about the server, in every browser', () => {
  for (const message of ['Failed to fetch', 'NetworkError when attempting to fetch resource.', 'Load failed'])
    expect(sentencesOf(new TypeError(message))).toEqual([
      'No response: check that the server runs and that this machine reaches it.',
    ]);
});

it('another error keeps its message', () => {
  expect(sentencesOf(new TypeError('x is not a function'))).toEqual(['x is not a function']);
});
