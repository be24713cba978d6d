import { expect, it } from 'vitest';
import { destinationOf, emptyDestination } from './destination-draft.ts';

it('fields without text are not sent', () => {
  expect(destinationOf({ ...emptyDestination, name: 'lake', bucket: 'traces' })).toEqual({
    destination_type: 's3',
    display_name: 'lake',
    config: { bucket_name: 'traces' },
  });
  const keys = { keyId: 'id', secret: 'secret' };
  expect(destinationOf({ ...emptyDestination, ...keys, prefix: 'svc', role: 'arn' })).toMatchObject({
    config: { prefix: 'svc' },
    credentials: { access_key_id: 'id', secret_access_key: 'secret' },
    aws_role_arn: 'arn',
  });
});

it('a folder has a path and nothing of a bucket', () => {
  const draft = { ...emptyDestination, type: 'file', name: 'disk', path: 'lake', bucket: 'traces' } as const;
  expect(destinationOf(draft)).toEqual({
    destination_type: 'file',
    display_name: 'disk',
    config: { path: 'lake' },
  });
});
