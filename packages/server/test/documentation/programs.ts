// The sh blocks use programs that a machine with only Node may lack. Their tests are then reported as not run.
import { missingPrograms } from '../s3/availability.ts';

/** Why sh blocks are not run; undefined when they are. */
export const whyNoShell = (): string | undefined => {
  const missing = missingPrograms(['bash', 'env', 'curl', 'jq', 'openssl']);
  return missing.length > 0
    ? `not installed: ${missing.join(', ')}; on Debian: apt-get install ${missing.join(' ')}`
    : undefined;
};
