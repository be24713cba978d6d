// The error response of an object store in a form that is safe to show: error code, message, and the id of the request, which the support of
// the provider needs. The message comes from a foreign server, so secrets in it are replaced and its length is limited.

interface ServiceFault extends Error {
  $metadata?: { httpStatusCode?: number; requestId?: string };
}

const charsMax = 400;
const codeShape = /^[A-Za-z][\w.]{0,63}$/;
const requestIdShape = /^[\w.:=+/-]{1,128}$/;
/** Shorter secrets are not replaced: they could match parts of ordinary words. */
const secretCharsMin = 4;
const hidden = '[redacted]';

/** Names that libraries give to errors without a code of the service. */
const unnamed = /^(?:Error|TypeError|SyntaxError|AggregateError|Unknown|UnknownError|S3ServiceException)$/;

/**
 * True for a 404 without the error body that S3 services send: a proxy before the service answered. Not for HEAD, whose responses have no
 * body. The client of S3 names both NotFound.
 */
export const isOfProxy = ({ name, $metadata }: ServiceFault): boolean =>
  $metadata?.httpStatusCode === 404 && (name === 'NotFound' || unnamed.test(name));

/** ` The service answered AccessDenied: "…" (request 4442587FB7D0A2F9).`; empty when there was no response. */
export const answerOf = (error: ServiceFault, secrets: readonly string[]): string => {
  const { httpStatusCode: status, requestId } = error.$metadata ?? {};
  if (status === undefined) return '';
  const isNamed = codeShape.test(error.name) && !unnamed.test(error.name) && !isOfProxy(error);
  const code = isNamed ? error.name : `status ${status}`;
  const message =
    isNamed && error.message !== error.name && !unnamed.test(error.message)
      ? withoutSecrets(error.message, secrets)
      : '';
  const sentence = message === '' ? '' : `: "${message}"`;
  const request = requestId !== undefined && requestIdShape.test(requestId) ? ` (request ${requestId})` : '';
  return ` The service answered ${code}${sentence}${request}.`;
};

/** Long sequences of letters and digits, such as keys, tokens and signatures. */
const longRun = /[A-Za-z0-9+/=_-]{32,}/g;

const looksSecret = (run: string): boolean =>
  /^[0-9a-f]{32,}$/i.test(run) ||
  run.length >= 100 ||
  (!run.includes('/') && /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run));

export const withoutSecrets = (text: string, secrets: readonly string[]): string => {
  let shown = text.replaceAll(/[\p{C}\p{Z}]+/gu, ' ').trim();
  for (const secret of secrets) if (secret.length >= secretCharsMin) shown = shown.replaceAll(secret, hidden);
  shown = shown
    // Ids of access keys: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
    .replaceAll(/\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}\b/g, hidden)
    .replaceAll(
      /\b(authorization|bearer|signature|credential|token|secret|password)(["']?\s*[=:]\s*|\s+(?=\S*\d))["']?(?:(?:basic|bearer)\s+)?[^\s"',;&]+/gi,
      `$1$2${hidden}`,
    )
    .replaceAll(/\?[^\s"'<>]+/g, '?…')
    .replaceAll(longRun, (run) => (looksSecret(run) ? hidden : run))
    .replaceAll('"', "'");
  return shown.length <= charsMax
    ? shown
    : `${Array.from(shown)
        .slice(0, charsMax - 1)
        .join('')}…`;
};
