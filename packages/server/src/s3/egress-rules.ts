/** What the egress guard requires of the addresses of S3 services. */
export const egressRules = { httpsUnlessAllowed: true } as const;
