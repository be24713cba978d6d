throw new Error('this module cannot be loaded');
export const broken = 1;
