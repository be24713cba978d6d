/** The name of the workspace that the first start makes; runs of the server itself are traced into it. */
export const defaultWorkspace = 'default';
