import type { BulkExport } from '@svc/sdk';
import { expect, it } from 'vitest';
import { draftOf, emptyDraft, missingChoices, requestOf } from './export-draft.ts';

it('a new export begins with the last seven days until now, in UTC', () => {
  const draft = emptyDraft(Date.parse('2026-11-25T17:43:00Z'));
  expect(requestOf(draft)).toMatchObject({
    start_time: '2026-11-18T00:00:00Z',
    end_time: '2026-11-25T17:43:00Z',
    format_version: 'v2_beta',
  });
});

it('a schedule has no end, and an empty filter is none', () => {
  const request = requestOf({ ...emptyDraft(0), isSchedule: true, everyHours: '6', filter: '  ' });
  expect(request).toMatchObject({ interval_hours: 6 });
  expect('end_time' in request || 'filter' in request).toBe(false);
});

it('a project and a destination have to be chosen', () => {
  const draft = emptyDraft(0);
  expect([...missingChoices({ ...draft, project: 'p' })]).toEqual([
    ['bulk_export_destination_id', 'Choose a destination.'],
  ]);
  expect([...missingChoices({ ...draft, destination: 'd' })]).toEqual([['session_id', 'Choose a project.']]);
  expect(missingChoices({ ...draft, project: 'p', destination: 'd' }).size).toBe(0);
});

it('an export that is made again has the request of the earlier one', () => {
  const found = {
    bulk_export_destination_id: 'd',
    session_id: 'p',
    start_time: '2026-11-01T00:00:01.000000Z',
    end_time: '2026-11-02T00:00:00.250000Z',
    interval_hours: null,
    filter: 'eq(run_type, "llm")',
    format_version: 'v1',
    compression: 'gzip',
    export_fields: ['id', 'name'],
  } as BulkExport;
  expect(requestOf(draftOf(found))).toEqual({
    bulk_export_destination_id: 'd',
    session_id: 'p',
    start_time: '2026-11-01T00:00:01Z',
    end_time: '2026-11-02T00:00:00.250Z',
    filter: 'eq(run_type, "llm")',
    format_version: 'v1',
    compression: 'gzip',
    export_fields: ['id', 'name'],
  });
});
