// The page at /docs: the description of this server's API, shown by Swagger UI.

import { tokens } from './lib/api.js';
import { DOMPurify } from '/vendor/prose.js';
import { SwaggerUI } from '/vendor/swagger.js';

// Swagger UI sets HTML as text in a few places: all of it is sanitized here.
globalThis.trustedTypes?.createPolicy('default', { createHTML: (html) => DOMPurify.sanitize(html) });

const dark = matchMedia('(prefers-color-scheme: dark)');
const setTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', setTheme);
setTheme();

SwaggerUI({
  url: '/openapi.json',
  domNode: document.querySelector('#docs'),
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  validatorUrl: null,
  requestInterceptor(request) {
    const token = tokens.for();
    if (token && !request.headers.Authorization) request.headers.Authorization = `Bearer ${token}`;
    return request;
  },
});
