/** The name of the project that has the traces of an agent in an environment. The case of the environment is ignored. */
export const addressOf = (agent: string, environment: string): string =>
  `lrn:agents/${agent}/environments/${environment.toLowerCase()}`;
export const agentAddress = /^lrn:agents\/([^/]{1,63})\/environments\/([^/]{1,63})$/;
