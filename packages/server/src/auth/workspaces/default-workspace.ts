/** The name of the workspace that the first start creates, and into which the server traces its own runs. */
export const defaultWorkspace = 'default';
