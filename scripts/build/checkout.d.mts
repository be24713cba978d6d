export declare const compileCheckout: () => string | undefined;
