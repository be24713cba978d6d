// The API reference at /docs: Swagger UI with the OpenAPI document of this server. It sends requests to this server.
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';

SwaggerUI({
  dom_id: '#reference',
  // Also below the prefix of the server.
  url: location.pathname.replace(/\/docs\/?$/, '/openapi.json'),
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  tryItOutEnabled: true,
  // Otherwise it would send the document to a server of Swagger.
  validatorUrl: null,
});
