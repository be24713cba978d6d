/** What the egress guard asks of the addresses of S3 services. */
export const egressRules = { httpsUnlessAllowed: true } as const;
