throw new Error('this module cannot be loaded');
