// The package has no types.
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** https://swagger.io/docs/open-source-tools/swagger-ui/usage/configuration/ */
  const SwaggerUI: (configuration: Record<string, unknown>) => void;
  export default SwaggerUI;
}
