// Destinations of exports: the test of svc destinations test, with the stored credentials.
import type { DestinationProbe } from '../../app/destination-probes.ts';
import { ok, type Outcome, problem, warning } from './finding.ts';

export const destinationOutcomes = (probes: readonly DestinationProbe[]): Outcome[] =>
  probes.length === 0 ? [ok('There are no destinations of exports.')] : probes.map(toOutcome);

const toOutcome = ({ name, id, workspace, failure }: DestinationProbe): Outcome => {
  const subject = `Destination "${name}" (${id.slice(0, 8)}, workspace "${workspace}")`;
  if (failure === undefined) return ok(`${subject} can be written to.`);
  if (failure.kind === 'skipped')
    return warning(`${subject} was not tested: ${failure.message}.`, 'Test it with svc destinations test.');
  return problem(
    `${subject} cannot be written to: ${failure.message}`,
    'Correct its permissions, or its credentials with svc destinations rotate. svc destinations test shows each step.',
  );
};
