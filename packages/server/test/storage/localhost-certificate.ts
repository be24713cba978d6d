// A self-signed certificate of `localhost` until 2126, and its key. For tests only: Node cannot create certificates.
// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=localhost -addext subjectAltName=DNS:localhost
export const localhostKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMb5PEt4tuxoDAFKE
M1J/lqHqPWfULKucCAWvOlpWNeahRANCAARu9QVgjUXFPxoR7YUd//Ewb0Or51Qr
GodxSgbAGKAp6H4cDFI/diYfAm3CupEjovMw1rVMncYiIV7oTcNG/9zw
-----END PRIVATE KEY-----
`;

export const localhostCertificate = `-----BEGIN CERTIFICATE-----
MIIBlTCCATugAwIBAgIUPHplUFf9JW76fnAN1oJn0Trqdk4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyODExMTkyOVoYDzIxMjYxMTA0
MTExOTI5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARu9QVgjUXFPxoR7YUd//Ewb0Or51QrGodxSgbAGKAp6H4cDFI/diYf
Am3CupEjovMw1rVMncYiIV7oTcNG/9zwo2kwZzAdBgNVHQ4EFgQU4VHCgrRAz4Ii
NGz36BgQV7tVztswHwYDVR0jBBgwFoAU4VHCgrRAz4IiNGz36BgQV7tVztswDwYD
VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
SAAwRQIhANC0iotvV7mRl0vF/PCbws1KVEi4r2ZgNPEUSbrJgcvVAiBCNfC6dCme
O0VoxBs/xHvl6QnkJQkrzMD4XcYF9DrzmA==
-----END CERTIFICATE-----
`;
