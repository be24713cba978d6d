// A module that cannot be loaded.
throw new Error('this module is broken');
