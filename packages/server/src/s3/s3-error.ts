// Converts errors of S3 requests to errors of a destination. The message consists of the meaning, a remedy, and the service's own message.
import { EgressRefused } from '../net/guard.ts';
import { DestinationError } from './destination-error.ts';
import { answerOf, isOfProxy } from './service-answer.ts';
import { findReason } from './s3-reasons.ts';

interface ServiceError extends Error {
  code?: unknown;
  syscall?: unknown;
  $metadata?: { httpStatusCode?: number; requestId?: string };
  $response?: { headers?: Record<string, string> };
}

const codeShape = /^[A-Za-z][\w.]{0,63}$/;
const regionShape = /^[A-Za-z0-9-]{1,63}$/;
/** Error names of libraries that do not identify the error. */
const genericNames = new Set([
  'Error',
  'Unknown',
  'UnknownError',
  'TypeError',
  'AggregateError',
  'S3ServiceException',
  'NotFound',
]);

/**
 * Returns a DestinationError unchanged. `secrets`: the credentials of the request, which are removed from the message. `explain`: the
 * reasons and remedies, if they are not those of destinations of exports.
 */
export const toDestinationError = (
  error: unknown,
  secrets: readonly string[] = [],
  explain = findReason,
): DestinationError => {
  if (error instanceof DestinationError) return error;
  const thrown = error as ServiceError;
  const refused = findRefusal(thrown);
  if (refused !== undefined)
    return new DestinationError(`The address ${refused.message}. See SVC_EGRESS_ALLOW.`, {
      code: 'EndpointRefused',
      isFinal: true,
    });
  const status = thrown.$metadata?.httpStatusCode;
  const code = codeOf(thrown, status);
  const { reason, isFinal } = explain(code, status);
  return new DestinationError(reason + regionHint(thrown) + answerOf(thrown, secrets), {
    code,
    isFinal,
    status,
    cause: causeOf(thrown, code, status),
  });
};

/** Finds the error of the egress guard, which a library may have wrapped as the cause of another error. */
const findRefusal = (error: unknown, depth = 0): EgressRefused | undefined => {
  if (error instanceof EgressRefused) return error;
  const isDeeper = error instanceof Error && error.cause !== undefined && depth < 5;
  return isDeeper ? findRefusal(error.cause, depth + 1) : undefined;
};

const codeOf = (error: ServiceError, status: number | undefined): string => {
  const { name, code } = error;
  if (name === 'TimeoutError') return typeof code === 'string' && codeShape.test(code) ? code : 'Timeout';
  if (status === undefined && typeof code === 'string' && codeShape.test(code)) return code;
  if (!genericNames.has(name) && codeShape.test(name)) return name;
  if (isOfProxy(error)) return 'ProxyNotFound';
  if (status === 301) return 'PermanentRedirect';
  if (status === 403) return 'AccessDenied';
  if (status === 404) return 'NoSuchBucket';
  return status === undefined ? 'Unknown' : `Http${status}`;
};

const regionHint = ({ $response, $metadata }: ServiceError): string => {
  if ($metadata?.httpStatusCode !== 301 && $metadata?.httpStatusCode !== 400) return '';
  const region = $response?.headers?.['x-amz-bucket-region'];
  return region !== undefined && regionShape.test(region) ? ` The bucket is in ${region}.` : '';
};

/** The cause, for the log: code, status, system call and request id, but no part of the request or response. */
const causeOf = ({ syscall, $metadata }: ServiceError, code: string, status: number | undefined): Error => {
  const request = $metadata?.requestId;
  const facts = [
    status === undefined ? undefined : `status ${status}`,
    typeof syscall === 'string' && codeShape.test(syscall) ? syscall : undefined,
    typeof request === 'string' && /^[\w-]{1,128}$/.test(request) ? `request ${request}` : undefined,
  ];
  return new Error([code, ...facts.filter((fact) => fact !== undefined)].join(', '));
};

/** True for the response to `If-None-Match: *` when the key already has an object. */
export const isConflict = (error: unknown): boolean =>
  (error as ServiceError).$metadata?.httpStatusCode === 412 || (error as Error).name === 'PreconditionFailed';
